// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import static io.weft.collective.service.PeerScene.ALLGATHER;
import static io.weft.collective.service.PeerScene.ALLREDUCE;
import static io.weft.collective.service.PeerScene.ALLTOALL;
import static io.weft.collective.service.PeerScene.BROADCAST;
import static io.weft.collective.service.PeerScene.BY_RING;
import static io.weft.collective.service.PeerScene.CREDIT;
import static io.weft.collective.service.PeerScene.EAGER;
import static io.weft.collective.service.PeerScene.GRANT;
import static io.weft.collective.service.PeerScene.LONG;
import static io.weft.collective.service.PeerScene.PAIR;
import static io.weft.collective.service.PeerScene.WORLD;
import static io.weft.collective.service.PeerScene.count;
import static io.weft.collective.service.PeerScene.failure;
import static io.weft.collective.service.PeerScene.like;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.collective.exchange.Stage;
import io.weft.collective.frame.CollectiveFrame;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks a member that has proved itself and then sends impossible values: the communicator is
/// aborted in its name, or the member is disconnected, and nothing else happens. Each case was
/// found by the fuzzer or while its inputs were written.
@Timeout(60)
class BrokenPeerTest {

  private final PeerScene scene = new PeerScene();

  @Test
  void aGrantThatOverflowsAborts() {
    for (long base : new long[] {Long.MAX_VALUE, Long.MAX_VALUE - 7, -1, Long.MIN_VALUE}) {
      try (var fresh = new PeerScene()) {
        Handle<?> handle = fresh.rank.submit(PAIR, ALLTOALL, "a", LONG);
        fresh.rank.cycle(0);
        fresh.says(like(fresh.sent(EAGER), EAGER, count(LONG / 2)));
        fresh.says(fresh.grant(1, 4096, base, 0));
        fresh.rank.cycle(0);
        assertThat(failure(handle)).as("base " + base).hasMessageContaining("rank 0 on host sent");
      }
    }
  }

  @Test
  void aGrantOfNegativeLengthAborts() {
    Handle<?> handle = scene.submit(PAIR, ALLREDUCE, LONG);
    scene.zero.says(scene.grant(Long.MIN_VALUE, 0, 4));
    scene.rank.cycle(0);
    assertThat(failure(handle)).hasMessageContainingAll("rank 0 on host sent", "a grant of");
    scene.close();
  }

  @Test
  void aSecondGrantOrAnImpossibleSlotCountAborts() {
    for (int slots : new int[] {-1, 5, Integer.MAX_VALUE}) {
      try (var fresh = new PeerScene()) {
        Handle<?> handle = fresh.rank.submit(PAIR, ALLREDUCE, "a", LONG);
        fresh.rank.cycle(0);
        fresh.says(fresh.grant(4096, 0, slots));
        fresh.rank.cycle(0);
        assertThat(failure(handle)).as(slots + " slots").hasMessageContaining("a grant");
      }
    }
    Handle<?> handle = scene.submit(PAIR, ALLREDUCE, LONG);
    scene.zero.says(scene.grant(4096, 0, 4));
    scene.zero.says(scene.grant(4096, 0, 4));
    scene.rank.cycle(0);
    scene.zero.settles(null);
    scene.rank.cycle(0);
    for (int i = 0; i < 8; i++) {
      scene.zero.settles(null);
    }
    scene.rank.cycle(0);
    assertThat(failure(handle)).hasMessageContaining("a second grant");
    scene.close();
  }

  @Test
  void aGrantForSegmentsOfTheWrongLengthAborts() {
    Handle<?> handle = scene.submit(PAIR, ALLREDUCE, LONG);
    byte[] grant = scene.grant(4096, 0, 4);
    ByteBuffer.wrap(grant)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putLong(CollectiveFrame.HEADER_BYTES + 68, 512);
    scene.zero.says(grant);
    scene.rank.cycle(0);
    assertThat(failure(handle))
        .hasMessageContainingAll("rank 0 on host sent", "segments of 512 bytes, not of 128");
    scene.close();
  }

  @Test
  void creditThatWasNotGrantedAborts() {
    for (int credit : new int[] {1, 0, -1, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
      try (var fresh = new PeerScene()) {
        Handle<?> handle = fresh.rank.submit(PAIR, ALLREDUCE, "a", LONG);
        fresh.rank.cycle(0);
        byte[] frame = like(fresh.sent(GRANT), CREDIT, new byte[0]);
        ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN).putInt(20, credit);
        fresh.says(frame);
        fresh.rank.cycle(0);
        assertThat(failure(handle)).as("credit " + credit).hasMessageContaining("credit");
      }
    }
  }

  @Test
  void aSegmentOfTheWrongLengthAborts() {
    for (int bytes : new int[] {0, 3, 5, 64, 65, 4096}) {
      try (var fresh = new PeerScene()) {
        Handle<?> handle = fresh.rank.submit(PAIR, ALLREDUCE, "a", 1);
        fresh.rank.cycle(0);
        fresh.says(like(fresh.sent(EAGER), EAGER, new byte[bytes]));
        assertThat(failure(handle)).as(bytes + " bytes").hasMessageContaining("a segment of");
      }
    }
  }

  @Test
  void aSegmentOfTheWrongLengthThatMustWaitAborts() {
    Handle<?> handle = scene.submit(WORLD, BY_RING, 3);
    scene.two.full = true; // data from rank 0 waits until data to rank 2 is sent
    scene.zero.says(like(scene.sent(EAGER), EAGER, new byte[4]));
    scene.zero.says(like(scene.sent(EAGER), EAGER, new byte[4096]));
    scene.rank.cycle(0);
    assertThat(failure(handle)).hasMessageContaining("a segment of");
    scene.close();
  }

  @Test
  void segmentsBeyondTheScheduleAbort() {
    Handle<?> handle = scene.submit(WORLD, ALLGATHER, 1);
    scene.two.says(like(scene.sent(EAGER), EAGER, count(1)));
    assertThat(handle.isDone()).isFalse();
    scene.two.says(like(scene.sent(EAGER), EAGER, count(1)));
    scene.rank.cycle(0);
    assertThat(failure(handle)).hasMessageContaining("schedule does not have");
    scene.close();
  }

  @Test
  void messageInPlaceOfAWriteAborts() {
    Handle<?> handle = scene.submit(PAIR, ALLREDUCE, LONG);
    scene.zero.says(like(scene.sent(GRANT), EAGER, new byte[128]));
    scene.rank.cycle(0);
    assertThat(failure(handle)).hasMessageContaining("schedule does not have");
    scene.close();
  }

  @Test
  void writeInPlaceOfAMessageAborts() {
    Handle<?> handle = scene.rank.submit(PAIR, ALLGATHER, "a", LONG);
    scene.rank.cycle(0);
    scene.zero.notifies(1 << 18); // the first token
    scene.rank.cycle(0);
    assertThat(failure(handle)).hasMessageContaining("schedule does not have");
    scene.close();
  }

  @Test
  void moreWritesThanTheWindowHasSlotsAbort() {
    Handle<?> handle = scene.submit(WORLD, ALLREDUCE, LONG);
    int token = scene.sent(GRANT).getInt(20);
    for (int i = 0; i < 1000 && !handle.isDone(); i++) {
      scene.zero.notifies(token);
      scene.two.notifies(token);
      if (i % 7 == 0) {
        scene.rank.cycle(0);
      }
    }
    scene.rank.cycle(0);
    assertThat(failure(handle)).isInstanceOf(CommException.Aborted.class);
    scene.close();
  }

  @Test
  void anImpossibleCountAborts() {
    for (int kind : new int[] {ALLGATHER, ALLTOALL}) {
      for (long rows :
          new long[] {-1, Long.MIN_VALUE, Long.MAX_VALUE, Long.MAX_VALUE / 4, 1L << 50}) {
        try (var fresh = new PeerScene()) {
          Handle<?> handle = fresh.rank.submit(PAIR, kind, "a", 4);
          fresh.rank.cycle(0);
          fresh.says(like(fresh.sent(EAGER), EAGER, count(rows)));
          fresh.rank.cycle(0);
          assertThat(failure(handle))
              .as(rows + " rows")
              .isInstanceOf(CommException.Aborted.class)
              .hasMessageContaining("" + rows);
        }
      }
    }
  }

  @Test
  void aFrameOfANonexistentStageDropsItsSender() {
    scene.submit(PAIR, BROADCAST, LONG);
    byte[] frame = like(scene.sent(GRANT), EAGER, new byte[4]);
    frame[2] = Stage.MAX_STAGES;
    scene.zero.says(frame);
    assertThat(scene.zero.isClosed()).isTrue();
    scene.close();
  }
}
