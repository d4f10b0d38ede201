// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import static io.weft.collective.service.PeerScene.ABORT;
import static io.weft.collective.service.PeerScene.ALLREDUCE;
import static io.weft.collective.service.PeerScene.BROADCAST;
import static io.weft.collective.service.PeerScene.EAGER;
import static io.weft.collective.service.PeerScene.GRANT;
import static io.weft.collective.service.PeerScene.LONG;
import static io.weft.collective.service.PeerScene.PAIR;
import static io.weft.collective.service.PeerScene.PROBE;
import static io.weft.collective.service.PeerScene.WORLD;
import static io.weft.collective.service.PeerScene.failure;
import static io.weft.collective.service.PeerScene.like;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.collective.frame.CollectiveFrame;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// A peer that has proved itself and then meddles with what it does not belong to, leaves too early
/// or never reads: it is disconnected, and nobody waits for it for ever. Each of these was found by
/// the fuzzer or while it was fed.
@Timeout(60)
class TroublesomePeerTest {

  private final PeerScene scene = new PeerScene();

  @Test
  void notificationByAStrangerToTheCommunicatorEndsItsConnection() {
    Handle<?> handle = scene.submit(PAIR, ALLREDUCE, LONG);
    scene.two.notifies(scene.sent(GRANT).getInt(20));
    assertThat(scene.two.isClosed()).isTrue();
    assertThat(handle.isDone()).isFalse();
    scene.close();
  }

  @Test
  void abortByAStrangerToTheCommunicatorEndsItsConnection() {
    Handle<?> handle = scene.submit(PAIR, ALLREDUCE, LONG);
    scene.two.says(like(scene.sent(GRANT), ABORT, "no".getBytes(StandardCharsets.UTF_8)));
    scene.rank.turn(0);
    assertThat(scene.two.isClosed()).isTrue();
    assertThat(handle.isDone()).isFalse();
    scene.close();
  }

  @Test
  void disagreementByAStrangerToTheCommunicatorIsIgnored() {
    Handle<?> first = scene.submit(PAIR, ALLREDUCE, 1);
    scene.zero.says(like(scene.sent(EAGER), EAGER, new byte[4]));
    scene.rank.turn(0);
    assertThat(first.isDone()).isTrue();
    byte[] disagreeing = like(scene.sent(EAGER), EAGER, new byte[4]);
    disagreeing[4] ^= 1;
    scene.two.says(disagreeing);
    scene.rank.turn(0);
    Handle<?> second = scene.rank.submit(PAIR, ALLREDUCE, "other", 1);
    scene.rank.turn(0);
    assertThat(second.isDone()).isFalse();
    scene.close();
  }

  @Test
  void writesThatNeverLeaveEndWithTheJob() {
    Handle<?> handle = scene.submit(PAIR, ALLREDUCE, LONG);
    scene.zero.says(scene.grant(4096, 0, 4));
    scene.rank.turn(0);
    scene.close();
    assertThat(handle.isDone()).isTrue();
  }

  @Test
  void writesToWhoLeftAndStaysEndWithTheJob() {
    Handle<?> handle = scene.submit(PAIR, ALLREDUCE, LONG);
    scene.zero.says(scene.grant(4096, 0, 4));
    scene.rank.turn(0);
    scene.zero.says(new byte[] {-1, 0, 0, 0, 0, 0, 0, 0});
    scene.close();
    assertThat(handle.isDone()).isTrue();
  }

  @Test
  void operationThatOutlivesAMemberThatLeftEndsWithTheJob() {
    Handle<?> handle = scene.rank.submit(WORLD, BROADCAST, "a", LONG);
    scene.rank.turn(0);
    scene.two.says(new byte[] {-1, 0, 0, 0, 0, 0, 0, 0});
    scene.rank.turn(0);
    assertThat(handle.isDone()).isFalse();
    scene.close();
    assertThat(handle.isDone()).isTrue();
  }

  @Test
  void operationThatOutlivesAMemberThatLeftEndsWithItsDeadlineOrAnotherMember() {
    for (boolean late : new boolean[] {true, false}) {
      try (var fresh = new PeerScene()) {
        Handle<?> handle = fresh.rank.submit(WORLD, BROADCAST, "a", LONG);
        fresh.rank.turn(0);
        fresh.two.says(new byte[] {-1, 0, 0, 0, 0, 0, 0, 0});
        fresh.rank.turn(0);
        assertThat(handle.isDone()).isFalse();
        if (late) {
          for (int i = 0; i < 600 && !handle.isDone(); i++) {
            fresh.rank.turn(Duration.ofMillis(10).toNanos());
          }
        } else {
          fresh.zero.breaks();
          fresh.rank.turn(0);
        }
        assertThat(failure(handle)).as("late " + late).isNotNull();
      }
    }
  }

  @Test
  void peerWhoseWritesNeverLeaveIsDroppedAfterAFailureAndOthersFailWithIt() {
    Handle<?> pair = scene.submit(PAIR, ALLREDUCE, LONG);
    scene.zero.says(scene.grant(4096, 0, 4));
    scene.rank.turn(0);
    scene.zero.full = true;
    scene.rank.leave(PAIR);
    for (int i = 0; i < 75; i++) {
      scene.rank.turn(Duration.ofMillis(20).toNanos());
    }
    assertThat(pair.isDone()).isFalse();
    Handle<?> world = scene.submit(WORLD, ALLREDUCE, LONG);
    for (int i = 0; i < 200 && !scene.zero.isClosed(); i++) {
      scene.rank.turn(Duration.ofMillis(20).toNanos());
    }
    assertThat(scene.zero.isClosed()).isTrue();
    scene.rank.turn(0);
    assertThat(pair.isDone()).isTrue();
    assertThat(failure(world)).isInstanceOf(CommException.PeerLost.class);
    scene.close();
  }

  @Test
  void peerThatAsksAndNeverReadsIsDropped() {
    scene.zero.full = true;
    byte[] probe = new byte[CollectiveFrame.HEADER_BYTES];
    probe[1] = PROBE;
    for (int i = 0; i < 2_000_000 && !scene.zero.isClosed(); i++) {
      scene.zero.says(probe);
    }
    assertThat(scene.zero.isClosed()).isTrue();
    assertThat(scene.two.isClosed()).isFalse();
    scene.close();
  }

  @Test
  void whoFillsTheRoomForEarlyFramesIsDroppedAndNobodyElse() {
    byte[] early = new byte[ScriptedTransport.MAX_MESSAGE_BYTES];
    early[1] = EAGER;
    early[24] = 7; // a communicator that is not made here yet
    int kept = 0;
    while (!scene.two.isClosed() && kept < 100_000) {
      ByteBuffer.wrap(early).putInt(8, ++kept);
      scene.two.says(early);
      if (kept % 4 == 0 && !scene.zero.isClosed()) {
        scene.zero.says(early);
      }
    }
    assertThat(scene.two.isClosed()).isTrue();
    assertThat(scene.zero.isClosed()).isFalse();
    scene.close();
  }
}
