// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import static io.weft.collective.service.PeerScene.ALLREDUCE;
import static io.weft.collective.service.PeerScene.CREDIT;
import static io.weft.collective.service.PeerScene.DONE;
import static io.weft.collective.service.PeerScene.EAGER;
import static io.weft.collective.service.PeerScene.GRANT;
import static io.weft.collective.service.PeerScene.PAIR;
import static io.weft.collective.service.PeerScene.SHARE;
import static io.weft.collective.service.PeerScene.SHARED;
import static io.weft.collective.service.PeerScene.WORLD;
import static io.weft.collective.service.PeerScene.failure;
import static io.weft.collective.service.PeerScene.like;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.collective.frame.CollectiveFrame;
import io.weft.comm.Handle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks a member that offers its memory and then sends impossible values, or offers unreachable
/// memory.
@Timeout(60)
class BrokenShareTest {

  private static final int LONG = 300_000;

  /// The number of parts of a slice, which is half of the tensor.
  private static final int PARTS = 3;

  private final PeerScene scene = new PeerScene();

  @AfterEach
  void closeScene() {
    scene.close();
  }

  /// Returns the rank's own offer, for rank 0 to send back: so rank 0 shares the rank's own memory.
  private byte[] offer() {
    return offered(scene).array().clone();
  }

  /// Returns the rank's offer, which it sends after it has left the slots of the stage before, in
  /// which the others do not take part.
  private static ByteBuffer offered(PeerScene scene) {
    return scene.rank.transport().sent().stream()
        .filter(frame -> frame.length > 2 && frame[1] == SHARE && frame[2] == 1)
        .map(frame -> ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN))
        .findFirst()
        .orElseThrow();
  }

  private byte[] aux(int type, int aux) {
    byte[] frame = like(offered(scene), type, new byte[0]);
    ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN).putInt(20, aux);
    return frame;
  }

  @Test
  void anOfferAndItsEndCompleteTheOperation() {
    Handle<?> handle = scene.submit(PAIR, SHARED, LONG);
    scene.says(offer());
    for (int piece = 0; piece < 4; piece++) {
      scene.rank.cycle(0);
    }
    assertThat(scene.sent(DONE).getInt(20)).isEqualTo(PARTS);
    assertThat(handle.isDone()).isFalse();
    scene.says(aux(DONE, PARTS));
    scene.rank.cycle(0);
    assertThat(failure(handle)).isNull();
  }

  @Test
  void unreachableMemoryMovesTheOperationToTheNextStage() {
    Handle<?> handle = scene.submit(PAIR, SHARED, LONG);
    byte[] unknown = offer();
    ByteBuffer.wrap(unknown)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(CollectiveFrame.HEADER_BYTES + 16, 77);
    scene.says(unknown);
    scene.rank.cycle(0);
    assertThat(scene.sent(DONE).getInt(20)).isEqualTo(-1);
    scene.says(aux(DONE, PARTS));
    scene.rank.cycle(0);
    assertThat(scene.sent(GRANT).get(2)).as("stageIndex").isEqualTo((byte) 2);
    assertThat(handle.isDone()).isFalse();
  }

  @Test
  void privateMemoryOfOneMemberEndsTheSharing() {
    Handle<?> handle = scene.submit(WORLD, SHARED, LONG);
    scene.two.says(offer());
    scene.says(aux(SHARE, 0));
    scene.rank.cycle(0);
    assertThat(scene.sent(GRANT).get(2)).as("stageIndex").isEqualTo((byte) 2);
    assertThat(handle.isDone()).isFalse();
    assertThat(scene.rank.transport().sent()).noneMatch(frame -> frame[1] == DONE);
  }

  @Test
  void aSecondOfferAborts() {
    Handle<?> handle = scene.submit(WORLD, SHARED, LONG);
    scene.says(offer());
    scene.says(offer());
    scene.rank.cycle(0);
    assertThat(failure(handle)).hasMessageContaining("a second offer");
  }

  @Test
  void anOfferThatIsTooShortAborts() {
    Handle<?> handle = scene.submit(WORLD, SHARED, LONG);
    scene.says(aux(SHARE, 1));
    scene.rank.cycle(0);
    assertThat(failure(handle)).hasMessageContaining("an offer of 32 bytes");
  }

  @Test
  void anEndWithoutAnOfferAborts() {
    Handle<?> handle = scene.submit(WORLD, SHARED, LONG);
    scene.says(aux(DONE, PARTS));
    scene.rank.cycle(0);
    assertThat(failure(handle)).hasMessageContaining("that is not due");
  }

  @Test
  void aSecondEndAborts() {
    Handle<?> handle = scene.submit(WORLD, SHARED, LONG);
    scene.says(offer());
    scene.says(aux(DONE, PARTS));
    scene.says(aux(DONE, PARTS));
    scene.rank.cycle(0);
    assertThat(failure(handle)).hasMessageContaining("that is not due");
  }

  @Test
  void framesOfMessagesAndWritesAbort() {
    for (int type : new int[] {EAGER, GRANT, CREDIT}) {
      try (var fresh = new PeerScene()) {
        Handle<?> handle = fresh.submit(WORLD, SHARED, LONG);
        fresh.says(like(offered(fresh), type, new byte[68]));
        fresh.rank.cycle(0);
        assertThat(failure(handle)).as("type " + type).hasMessageContaining("is due");
      }
    }
  }

  @Test
  void offersAndEndsInAnOrdinaryOperationAbort() {
    for (int type : new int[] {SHARE, DONE}) {
      try (var fresh = new PeerScene()) {
        Handle<?> handle = fresh.submit(WORLD, ALLREDUCE, LONG);
        ByteBuffer own =
            fresh.rank.transport().sent().stream()
                .filter(frame -> frame[1] == GRANT || frame[1] == EAGER)
                .map(ByteBuffer::wrap)
                .findFirst()
                .orElseThrow();
        fresh.says(like(own, type, new byte[56]));
        fresh.rank.cycle(0);
        assertThat(failure(handle)).as("type " + type).hasMessageContaining("rank 0 on host sent");
      }
    }
  }
}
