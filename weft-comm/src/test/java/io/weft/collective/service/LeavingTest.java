// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.collective.frame.CollectiveFrame;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.transport.region.RegionTable;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks the frames that a rank sends before it leaves or is excluded, and the treatment of a rank
/// that has left.
@Timeout(60)
class LeavingTest {

  private static final int WORLD = 0;
  private static final int BY_RING = 4;
  private static final int MESH = 0xff;
  private static final int GOODBYE = 0;
  private static final int LOST = 2;
  private static final int EAGER = 1;
  private static final int ABORT = 5;

  /// More refusals than one duty cycle uses up.
  private static final int REFUSALS = 50;

  private final ScriptedRank rank = new ScriptedRank(new RegionTable("script"));
  private final ScriptedTransport.Peer zero = rank.transport().peers().get(0);
  private final ScriptedTransport.Peer two = rank.transport().peers().get(1);

  private static byte[] goodbye() {
    return new byte[] {(byte) MESH, GOODBYE, 0, 0, 0, 0, 0, 0};
  }

  private static byte[] lost(int rank, int witness, String why) {
    byte[] text = why.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(12 + text.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .put((byte) MESH)
        .put((byte) LOST)
        .putShort((short) 0)
        .putInt(rank)
        .putInt(witness)
        .put(text)
        .array();
  }

  /// Returns "mesh 2" or "service 0 type 5" for each message that was sent to a peer.
  private static List<String> words(ScriptedTransport.Peer peer) {
    return peer.got().stream()
        .map(
            message ->
                (message[0] & 0xff) == MESH
                    ? "mesh " + message[1]
                    : "service " + message[0] + " type " + message[1])
        .toList();
  }

  @Test
  void aGoodbyeFollowsALossThatWasBackPressured() {
    zero.refuses = REFUSALS;
    two.breaks();
    rank.cycle(0);
    rank.close();
    assertThat(words(zero)).containsExactly("mesh " + LOST, "mesh " + GOODBYE);
  }

  @Test
  void aGoodbyeFollowsAnAbortThatWasBackPressured() {
    Handle<?> handle = rank.submit(WORLD, BY_RING, "a", 3);
    zero.refuses = REFUSALS;
    rank.abort(WORLD);
    rank.cycle(0);
    rank.close();
    assertThat(handle.isDone()).isTrue();
    assertThat(words(zero)).containsExactly("service 0 type " + ABORT, "mesh " + GOODBYE);
  }

  @Test
  void anExcludedRankTellsTheOthersTheReasonBeforeItLeaves() {
    zero.says(lost(ScriptedRank.RANK, 0, "no sign of life"));
    rank.cycle(0);
    assertThat(words(two)).containsExactly("mesh " + LOST);
    ByteBuffer told = ByteBuffer.wrap(two.got().getFirst()).order(ByteOrder.LITTLE_ENDIAN);
    assertThat(told.getInt(4)).isEqualTo(ScriptedRank.RANK);
    assertThat(told.getInt(8)).isZero();
    assertThat(new String(told.array(), StandardCharsets.UTF_8)).contains("no sign of life");
    Handle<?> handle = rank.submit(WORLD, BY_RING, "a", 3);
    rank.cycle(0);
    assertThat(failure(handle)).isInstanceOf(CommException.Excluded.class);
    rank.close();
    assertThat(words(two)).containsExactly("mesh " + LOST, "mesh " + GOODBYE);
  }

  @Test
  void aRankThatLeavesAfterItsDataArrivedFailsNothing() {
    Handle<?> handle = ringThatRankTwoHoldsUp();
    fromZero(4);
    zero.says(goodbye());
    rank.cycle(0);
    assertThat(handle.isDone()).isFalse();
    two.full = false;
    rank.cycle(0);
    assertThat(failure(handle)).isNull();
    rank.close();
  }

  @Test
  void aRankThatLeavesBeforeItsDataArrivedIsNamed() {
    Handle<?> handle = ringThatRankTwoHoldsUp();
    fromZero(3);
    zero.says(goodbye());
    rank.cycle(0);
    assertThat(failure(handle)).isInstanceOf(CommException.PeerLost.class);
    assertThat(((CommException.PeerLost) failure(handle)).rank()).isZero();
    rank.close();
  }

  @Test
  void aWaitThatBeginsAfterTheClockReadingIsNotNegative() {
    Handle<?> handle = rank.submit(WORLD, BY_RING, "a", 3);
    zero.says(goodbye());
    rank.cycle(-200_000_000); // the duty cycle began earlier than the submission
    assertThat(failure(handle))
        .isInstanceOf(CommException.PeerLost.class)
        .hasMessageContaining("left the job")
        .hasMessageContaining(" for 0.0 s, stage 0");
    rank.close();
  }

  /// Rank 2 cannot complete the operation, whatever rank 0 has sent to rank 1.
  @Test
  void aDepartedRankThatIsLostToAnotherIsLost() {
    Handle<?> handle = ringThatRankTwoHoldsUp();
    fromZero(4);
    zero.says(goodbye());
    two.says(lost(0, 2, "its connection broke"));
    rank.cycle(0);
    assertThat(failure(handle))
        .isInstanceOf(CommException.PeerLost.class)
        .hasMessageStartingWith("rank 0 on ")
        .hasMessageContaining("its connection broke; noticed by rank 2 on ");
    rank.close();
  }

  @Test
  void aLossNamesItsWitness() {
    Handle<?> handle = rank.submit(WORLD, BY_RING, "a", 3);
    rank.cycle(0);
    zero.says(lost(2, 0, "no sign of life"));
    rank.cycle(0);
    assertThat(failure(handle))
        .isInstanceOfSatisfying(
            CommException.PeerLost.class,
            loss -> {
              assertThat(loss.rank()).isEqualTo(2);
              assertThat(loss.witness()).isZero();
            });
    rank.close();
  }

  /// Rank 1 receives from rank 0 and sends to rank 2, whose connection takes only one segment.
  private Handle<?> ringThatRankTwoHoldsUp() {
    Handle<?> handle = rank.submit(WORLD, BY_RING, "a", 3);
    rank.cycle(0);
    two.full = true;
    return handle;
  }

  private void fromZero(int segments) {
    byte[] first =
        two.got().stream().filter(frame -> frame[0] == 0 && frame[1] == EAGER).findFirst().get();
    byte[] segment = Arrays.copyOf(first, CollectiveFrame.HEADER_BYTES + Float.BYTES);
    IntStream.range(0, segments).forEach(i -> zero.says(segment));
    rank.cycle(0);
  }

  private static CommException failure(Handle<?> handle) {
    assertThat(handle.isDone()).as("the operation is done").isTrue();
    var failure = new CommException[1];
    handle.whenDone((result, cause) -> failure[0] = cause);
    return failure[0];
  }
}
