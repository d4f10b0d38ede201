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

/// Checks a peer that has proved itself and then interferes with communicators of others, leaves
/// too early or never reads: it is disconnected, and no operation waits for it for ever. Each case
/// was found by the fuzzer or while its inputs were written.
@Timeout(60)
class TroublesomePeerTest {

  private final PeerScene scene = new PeerScene();

  @Test
  void aNotificationByANonMemberEndsItsConnection() {
    Handle<?> handle = scene.submit(PAIR, ALLREDUCE, LONG);
    scene.two.notifies(scene.sent(GRANT).getInt(20));
    assertThat(scene.two.isClosed()).isTrue();
    assertThat(handle.isDone()).isFalse();
    scene.close();
  }

  @Test
  void anAbortByANonMemberEndsItsConnection() {
    Handle<?> handle = scene.submit(PAIR, ALLREDUCE, LONG);
    scene.two.says(like(scene.sent(GRANT), ABORT, "no".getBytes(StandardCharsets.UTF_8)));
    scene.rank.cycle(0);
    assertThat(scene.two.isClosed()).isTrue();
    assertThat(handle.isDone()).isFalse();
    scene.close();
  }

  @Test
  void aDisagreementByANonMemberIsIgnored() {
    Handle<?> first = scene.submit(PAIR, ALLREDUCE, 1);
    scene.zero.says(like(scene.sent(EAGER), EAGER, new byte[4]));
    scene.rank.cycle(0);
    assertThat(first.isDone()).isTrue();
    byte[] disagreeing = like(scene.sent(EAGER), EAGER, new byte[4]);
    disagreeing[4] ^= 1;
    scene.two.says(disagreeing);
    scene.rank.cycle(0);
    Handle<?> second = scene.rank.submit(PAIR, ALLREDUCE, "other", 1);
    scene.rank.cycle(0);
    assertThat(second.isDone()).isFalse();
    scene.close();
  }

  @Test
  void writesThatNeverCompleteEndWithTheJob() {
    Handle<?> handle = scene.submit(PAIR, ALLREDUCE, LONG);
    scene.zero.says(scene.grant(4096, 0, 4));
    scene.rank.cycle(0);
    scene.close();
    assertThat(handle.isDone()).isTrue();
  }

  @Test
  void writesToAMemberThatSaidGoodbyeEndWithTheJob() {
    Handle<?> handle = scene.submit(PAIR, ALLREDUCE, LONG);
    scene.zero.says(scene.grant(4096, 0, 4));
    scene.rank.cycle(0);
    scene.zero.says(new byte[] {-1, 0, 0, 0, 0, 0, 0, 0});
    scene.close();
    assertThat(handle.isDone()).isTrue();
  }

  @Test
  void anOperationThatOutlivesADepartedMemberEndsWithTheJob() {
    Handle<?> handle = scene.rank.submit(WORLD, BROADCAST, "a", LONG);
    scene.rank.cycle(0);
    scene.two.says(new byte[] {-1, 0, 0, 0, 0, 0, 0, 0});
    scene.rank.cycle(0);
    assertThat(handle.isDone()).isFalse();
    scene.close();
    assertThat(handle.isDone()).isTrue();
  }

  @Test
  void anOperationWithADepartedMemberEndsAtItsDeadlineOrALoss() {
    for (boolean late : new boolean[] {true, false}) {
      try (var fresh = new PeerScene()) {
        Handle<?> handle = fresh.rank.submit(WORLD, BROADCAST, "a", LONG);
        fresh.rank.cycle(0);
        fresh.two.says(new byte[] {-1, 0, 0, 0, 0, 0, 0, 0});
        fresh.rank.cycle(0);
        assertThat(handle.isDone()).isFalse();
        if (late) {
          for (int i = 0; i < 600 && !handle.isDone(); i++) {
            fresh.rank.cycle(Duration.ofMillis(10).toNanos());
          }
        } else {
          fresh.zero.breaks();
          fresh.rank.cycle(0);
        }
        assertThat(failure(handle)).as("late " + late).isNotNull();
      }
    }
  }

  @Test
  void aPeerWithWritesThatNeverCompleteIsDroppedAfterAFailure() {
    Handle<?> pair = scene.submit(PAIR, ALLREDUCE, LONG);
    scene.zero.says(scene.grant(4096, 0, 4));
    scene.rank.cycle(0);
    scene.zero.full = true;
    scene.rank.leave(PAIR);
    for (int i = 0; i < 75; i++) {
      scene.rank.cycle(Duration.ofMillis(20).toNanos());
    }
    assertThat(pair.isDone()).isFalse();
    Handle<?> world = scene.submit(WORLD, ALLREDUCE, LONG);
    for (int i = 0; i < 200 && !scene.zero.isClosed(); i++) {
      scene.rank.cycle(Duration.ofMillis(20).toNanos());
    }
    assertThat(scene.zero.isClosed()).isTrue();
    scene.rank.cycle(0);
    assertThat(pair.isDone()).isTrue();
    assertThat(failure(world)).isInstanceOf(CommException.PeerLost.class);
    scene.close();
  }

  @Test
  void aPeerThatProbesAndNeverReadsIsDropped() {
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
  void onlyThePeerThatFillsTheRoomForEarlyFramesIsDropped() {
    byte[] early = new byte[ScriptedTransport.MAX_MESSAGE_BYTES];
    early[1] = EAGER;
    early[24] = 7; // a communicator that this rank has not created
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
