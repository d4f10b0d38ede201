// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.CommException;
import io.weft.Handle;
import io.weft.transport.region.RegionTable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// What a peer that has proved itself and then breaks the protocol can do: have its communicators
/// aborted in its name, or be disconnected. Never more; each of these was found by the fuzzer or
/// while it was fed.
@Timeout(60)
class BrokenPeerTest {

  private static final int WORLD = 0;
  private static final int PAIR = 1;
  private static final int ALLREDUCE = 0;
  private static final int BROADCAST = 1;
  private static final int ALLGATHER = 2;
  private static final int ALLTOALL = 3;
  private static final int BY_RING = 4;

  /// Longer than the eager limit of `ScriptedRank`, for each of two or three ranks.
  private static final int LONG = 200;

  private static final int EAGER = 1;
  private static final int GRANT = 2;
  private static final int CREDIT = 3;
  private static final int ABORT = 5;
  private static final int PROBE = 6;

  private final ScriptedRank rank = new ScriptedRank(new RegionTable("script"));
  private final ScriptedTransport.Peer zero = rank.transport().peers().get(0);
  private final ScriptedTransport.Peer two = rank.transport().peers().get(1);

  @Test
  void notificationByAStrangerToTheCommunicatorEndsItsConnection() {
    Handle<?> handle = submit(PAIR, ALLREDUCE, LONG);
    two.notifies(sent(GRANT).getInt(20));
    assertThat(two.isClosed()).isTrue();
    assertThat(handle.isDone()).isFalse();
    rank.close();
  }

  @Test
  void abortByAStrangerToTheCommunicatorEndsItsConnection() {
    Handle<?> handle = submit(PAIR, ALLREDUCE, LONG);
    two.says(like(sent(GRANT), ABORT, "no".getBytes(StandardCharsets.UTF_8)));
    rank.turn(0);
    assertThat(two.isClosed()).isTrue();
    assertThat(handle.isDone()).isFalse();
    rank.close();
  }

  @Test
  void disagreementByAStrangerToTheCommunicatorIsIgnored() {
    Handle<?> first = submit(PAIR, ALLREDUCE, 1);
    zero.says(like(sent(EAGER), EAGER, new byte[4]));
    rank.turn(0);
    assertThat(first.isDone()).isTrue();
    byte[] disagreeing = like(sent(EAGER), EAGER, new byte[4]);
    disagreeing[4] ^= 1;
    two.says(disagreeing);
    rank.turn(0);
    Handle<?> second = rank.submit(PAIR, ALLREDUCE, "other", 1);
    rank.turn(0);
    assertThat(second.isDone()).isFalse();
    rank.close();
  }

  @Test
  void writesThatNeverLeaveEndWithTheJob() {
    Handle<?> handle = submit(PAIR, ALLREDUCE, LONG);
    zero.says(grant(4096, 0, 4));
    rank.turn(0);
    rank.close();
    assertThat(handle.isDone()).isTrue();
  }

  @Test
  void writesToWhoLeftAndStaysEndWithTheJob() {
    Handle<?> handle = submit(PAIR, ALLREDUCE, LONG);
    zero.says(grant(4096, 0, 4));
    rank.turn(0);
    zero.says(new byte[] {-1, 0, 0, 0, 0, 0, 0, 0});
    rank.close();
    assertThat(handle.isDone()).isTrue();
  }

  @Test
  void operationThatOutlivesAMemberThatLeftEndsWithTheJob() {
    Handle<?> handle = rank.submit(WORLD, BROADCAST, "a", LONG);
    rank.turn(0);
    two.says(new byte[] {-1, 0, 0, 0, 0, 0, 0, 0});
    rank.turn(0);
    assertThat(handle.isDone()).isFalse();
    rank.close();
    assertThat(handle.isDone()).isTrue();
  }

  @Test
  void operationThatOutlivesAMemberThatLeftEndsWithItsDeadlineOrAnotherMember() {
    for (boolean late : new boolean[] {true, false}) {
      try (var fresh = new Scene()) {
        Handle<?> handle = fresh.rank.submit(WORLD, BROADCAST, "a", LONG);
        fresh.rank.turn(0);
        fresh.rank.transport().peers().get(1).says(new byte[] {-1, 0, 0, 0, 0, 0, 0, 0});
        fresh.rank.turn(0);
        assertThat(handle.isDone()).isFalse();
        if (late) {
          for (int i = 0; i < 600 && !handle.isDone(); i++) {
            fresh.rank.turn(Duration.ofMillis(10).toNanos());
          }
        } else {
          fresh.rank.transport().peers().get(0).breaks();
          fresh.rank.turn(0);
        }
        assertThat(failure(handle)).as("late " + late).isNotNull();
      }
    }
  }

  @Test
  void peerWhoseWritesNeverLeaveIsDroppedAfterAFailureAndOthersFailWithIt() {
    Handle<?> pair = submit(PAIR, ALLREDUCE, LONG);
    zero.says(grant(4096, 0, 4));
    rank.turn(0);
    zero.full = true;
    rank.leave(PAIR);
    for (int i = 0; i < 75; i++) {
      rank.turn(Duration.ofMillis(20).toNanos());
    }
    assertThat(pair.isDone()).isFalse();
    Handle<?> world = submit(WORLD, ALLREDUCE, LONG);
    for (int i = 0; i < 200 && !zero.isClosed(); i++) {
      rank.turn(Duration.ofMillis(20).toNanos());
    }
    assertThat(zero.isClosed()).isTrue();
    rank.turn(0);
    assertThat(pair.isDone()).isTrue();
    assertThat(failure(world)).isInstanceOf(CommException.PeerLost.class);
    rank.close();
  }

  @Test
  void grantThatRunsPastTheEndOfNumbersAborts() {
    for (long base : new long[] {Long.MAX_VALUE, Long.MAX_VALUE - 7, -1, Long.MIN_VALUE}) {
      try (var fresh = new Scene()) {
        Handle<?> handle = fresh.rank.submit(PAIR, ALLTOALL, "a", LONG);
        fresh.rank.turn(0);
        fresh.says(like(fresh.sent(EAGER, 0), EAGER, count(LONG / 2)));
        fresh.says(fresh.grant(1, 4096, base, 0));
        fresh.rank.turn(0);
        assertThat(failure(handle)).as("base " + base).hasMessageContaining("rank 0 on host sent");
      }
    }
  }

  @Test
  void grantOfNegativeLengthAborts() {
    Handle<?> handle = submit(PAIR, ALLREDUCE, LONG);
    zero.says(grant(Long.MIN_VALUE, 0, 4));
    rank.turn(0);
    assertThat(failure(handle)).hasMessageContainingAll("rank 0 on host sent", "a grant of");
    rank.close();
  }

  @Test
  void grantThatIsNotTheOnlyOneOrOfImpossibleSlotsAborts() {
    for (int slots : new int[] {-1, 5, Integer.MAX_VALUE}) {
      try (var fresh = new Scene()) {
        Handle<?> handle = fresh.rank.submit(PAIR, ALLREDUCE, "a", LONG);
        fresh.rank.turn(0);
        fresh.says(fresh.grant(0, 4096, 0, slots));
        fresh.rank.turn(0);
        assertThat(failure(handle)).as(slots + " slots").hasMessageContaining("a grant");
      }
    }
    Handle<?> handle = submit(PAIR, ALLREDUCE, LONG);
    zero.says(grant(4096, 0, 4));
    zero.says(grant(4096, 0, 4));
    rank.turn(0);
    zero.settles(null);
    rank.turn(0);
    for (int i = 0; i < 8; i++) {
      zero.settles(null);
    }
    rank.turn(0);
    assertThat(failure(handle)).hasMessageContaining("a second grant");
    rank.close();
  }

  @Test
  void creditThatWasNotOwedAborts() {
    for (int credit : new int[] {1, 0, -1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      try (var fresh = new Scene()) {
        Handle<?> handle = fresh.rank.submit(PAIR, ALLREDUCE, "a", LONG);
        fresh.rank.turn(0);
        byte[] frame = like(fresh.sent(GRANT, 0), CREDIT, new byte[0]);
        ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN).putInt(20, credit);
        fresh.says(frame);
        fresh.rank.turn(0);
        assertThat(failure(handle)).as("credit " + credit).hasMessageContaining("credit");
      }
    }
  }

  @Test
  void segmentOfAnotherLengthAborts() {
    for (int bytes : new int[] {0, 3, 5, 64, 65, 4096}) {
      try (var fresh = new Scene()) {
        Handle<?> handle = fresh.rank.submit(PAIR, ALLREDUCE, "a", 1);
        fresh.rank.turn(0);
        fresh.says(like(fresh.sent(EAGER, 0), EAGER, new byte[bytes]));
        assertThat(failure(handle)).as(bytes + " bytes").hasMessageContaining("a segment of");
      }
    }
  }

  @Test
  void segmentOfAnotherLengthThatMustWaitAborts() {
    Handle<?> handle = submit(WORLD, BY_RING, 3);
    two.full = true; // what comes from rank 0 waits for what goes to rank 2
    zero.says(like(sent(EAGER), EAGER, new byte[4]));
    zero.says(like(sent(EAGER), EAGER, new byte[4096]));
    rank.turn(0);
    assertThat(failure(handle)).hasMessageContaining("a segment of");
    rank.close();
  }

  @Test
  void segmentsBeyondTheScheduleAbort() {
    Handle<?> handle = submit(WORLD, ALLGATHER, 1);
    two.says(like(sent(EAGER), EAGER, count(1)));
    assertThat(handle.isDone()).isFalse();
    two.says(like(sent(EAGER), EAGER, count(1)));
    rank.turn(0);
    assertThat(failure(handle)).hasMessageContaining("schedule does not have");
    rank.close();
  }

  @Test
  void messageInPlaceOfAWriteAborts() {
    Handle<?> handle = submit(PAIR, ALLREDUCE, LONG);
    zero.says(like(sent(GRANT), EAGER, new byte[128]));
    rank.turn(0);
    assertThat(failure(handle)).hasMessageContaining("schedule does not have");
    rank.close();
  }

  @Test
  void writeInPlaceOfAMessageAborts() {
    Handle<?> handle = rank.submit(PAIR, ALLGATHER, "a", LONG);
    rank.turn(0);
    zero.notifies(1 << 16);
    rank.turn(0);
    assertThat(failure(handle)).hasMessageContaining("schedule does not have");
    rank.close();
  }

  @Test
  void moreWritesThanTheWindowHasSlotsAbort() {
    Handle<?> handle = submit(WORLD, ALLREDUCE, LONG);
    int token = sent(GRANT).getInt(20);
    for (int i = 0; i < 1000 && !handle.isDone(); i++) {
      zero.notifies(token);
      two.notifies(token);
      if (i % 7 == 0) {
        rank.turn(0);
      }
    }
    rank.turn(0);
    assertThat(failure(handle)).isInstanceOf(CommException.Aborted.class);
    rank.close();
  }

  @Test
  void countThatCannotBeAborts() {
    for (int kind : new int[] {ALLGATHER, ALLTOALL}) {
      for (long rows :
          new long[] {-1, Long.MIN_VALUE, Long.MAX_VALUE, Long.MAX_VALUE / 4, 1L << 50}) {
        try (var fresh = new Scene()) {
          Handle<?> handle = fresh.rank.submit(PAIR, kind, "a", 4);
          fresh.rank.turn(0);
          fresh.says(like(fresh.sent(EAGER, 0), EAGER, count(rows)));
          fresh.rank.turn(0);
          assertThat(failure(handle))
              .as(rows + " rows")
              .isInstanceOf(CommException.Aborted.class)
              .hasMessageContaining("" + rows);
        }
      }
    }
  }

  @Test
  void peerThatAsksAndNeverReadsIsDropped() {
    zero.full = true;
    byte[] probe = new byte[Frame.HEADER_BYTES];
    probe[1] = PROBE;
    for (int i = 0; i < 2_000_000 && !zero.isClosed(); i++) {
      zero.says(probe);
    }
    assertThat(zero.isClosed()).isTrue();
    assertThat(two.isClosed()).isFalse();
    rank.close();
  }

  @Test
  void whoFillsTheRoomForEarlyFramesIsDroppedAndNobodyElse() {
    byte[] early = new byte[ScriptedTransport.MAX_MESSAGE_BYTES];
    early[1] = EAGER;
    early[24] = 7; // a communicator that is not made here yet
    int kept = 0;
    while (!two.isClosed() && kept < 100_000) {
      ByteBuffer.wrap(early).putInt(8, ++kept);
      two.says(early);
      if (kept % 4 == 0 && !zero.isClosed()) {
        zero.says(early);
      }
    }
    assertThat(two.isClosed()).isTrue();
    assertThat(zero.isClosed()).isFalse();
    rank.close();
  }

  @Test
  void frameOfAPhaseThatNoOperationHasDropsItsSender() {
    submit(PAIR, BROADCAST, LONG);
    byte[] frame = like(sent(GRANT), EAGER, new byte[4]);
    frame[2] = 2;
    zero.says(frame);
    assertThat(zero.isClosed()).isTrue();
    rank.close();
  }

  // --- what both sides say

  private Handle<?> submit(int communicator, int kind, int elements) {
    Handle<?> handle = rank.submit(communicator, kind, "a", elements);
    rank.turn(0);
    return handle;
  }

  private ByteBuffer sent(int type) {
    return sent(rank, type, 0);
  }

  private static ByteBuffer sent(ScriptedRank rank, int type, int which) {
    List<byte[]> frames =
        rank.transport().sent().stream().filter(f -> f.length > 1 && f[1] == type).toList();
    assertThat(frames).as("frames of type " + type).hasSizeGreaterThan(which);
    return ByteBuffer.wrap(frames.get(which)).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static byte[] like(ByteBuffer frame, int type, byte[] body) {
    byte[] like = Arrays.copyOf(frame.array(), Frame.HEADER_BYTES + body.length);
    like[1] = (byte) type;
    System.arraycopy(body, 0, like, Frame.HEADER_BYTES, body.length);
    return like;
  }

  private byte[] grant(long bytes, long base, int slots) {
    return grant(sent(GRANT), 0, bytes, base, slots);
  }

  private static byte[] grant(ByteBuffer like, int phase, long bytes, long base, int slots) {
    byte[] frame = like(like, GRANT, new byte[(int) Grant.MESSAGE_BYTES - Frame.HEADER_BYTES]);
    frame[2] = (byte) phase;
    ByteBuffer.wrap(frame)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(Frame.HEADER_BYTES + 8, bytes)
        .putLong(Frame.HEADER_BYTES + 36, bytes)
        .putLong(Frame.HEADER_BYTES + 56, base)
        .putInt(Frame.HEADER_BYTES + 64, slots);
    return frame;
  }

  private static byte[] count(long rows) {
    return ByteBuffer.allocate(8).order(ByteOrder.LITTLE_ENDIAN).putLong(rows).array();
  }

  private static CommException failure(Handle<?> handle) {
    assertThat(handle.isDone()).as("the operation is done").isTrue();
    var failure = new CommException[1];
    handle.whenDone((result, cause) -> failure[0] = cause);
    return failure[0];
  }

  /// A rank of its own, for one of several cases.
  private static final class Scene implements AutoCloseable {
    private final ScriptedRank rank = new ScriptedRank(new RegionTable("script"));

    void says(byte[] frame) {
      rank.transport().peers().get(0).says(frame);
      rank.turn(0);
    }

    ByteBuffer sent(int type, int which) {
      return BrokenPeerTest.sent(rank, type, which);
    }

    byte[] grant(int phase, long bytes, long base, int slots) {
      return BrokenPeerTest.grant(sent(GRANT, 0), phase, bytes, base, slots);
    }

    @Override
    public void close() {
      rank.close();
    }
  }
}
