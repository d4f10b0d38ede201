// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import static io.weft.collective.service.PeerScene.DONE;
import static io.weft.collective.service.PeerScene.EAGER;
import static io.weft.collective.service.PeerScene.GRANT;
import static io.weft.collective.service.PeerScene.LONG;
import static io.weft.collective.service.PeerScene.PAIR;
import static io.weft.collective.service.PeerScene.SHARE;
import static io.weft.collective.service.PeerScene.SHARED_ALLGATHER;
import static io.weft.collective.service.PeerScene.SHARED_ALLTOALL;
import static io.weft.collective.service.PeerScene.SHARED_BROADCAST;
import static io.weft.collective.service.PeerScene.WORLD;
import static io.weft.collective.service.PeerScene.failure;
import static io.weft.collective.service.PeerScene.like;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.collective.frame.CollectiveFrame;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks a member that offers its part of a tensor with impossible values.
@Timeout(60)
class BrokenCopyTest {

  private static final int OFFSET_AT = CollectiveFrame.HEADER_BYTES + 28;
  private static final int ROWS_AT = OFFSET_AT + 8;

  private final PeerScene scene = new PeerScene();

  @AfterEach
  void closeScene() {
    scene.close();
  }

  private static ByteBuffer fields(byte[] frame) {
    return ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN);
  }

  /// Returns the rank's own offer, for rank 0 to send back: so rank 0 shares the rank's own memory.
  private byte[] offer() {
    return scene.sent(SHARE).array().clone();
  }

  private byte[] done(int missed) {
    byte[] frame = like(scene.sent(SHARE), DONE, new byte[0]);
    fields(frame).putInt(20, missed);
    return frame;
  }

  @Test
  void anOfferAndItsEndCompleteTheOperation() {
    Handle<?> handle = scene.submit(PAIR, SHARED_ALLGATHER, LONG);
    scene.says(offer());
    scene.rank.cycle(0);
    assertThat(scene.sent(DONE).getInt(20)).isZero();
    assertThat(handle.isDone()).isFalse();
    scene.says(done(0));
    scene.rank.cycle(0);
    assertThat(failure(handle)).isNull();
  }

  @Test
  void dataInUnreachableMemoryIsRequested() {
    Handle<?> handle = scene.submit(PAIR, SHARED_ALLGATHER, LONG);
    byte[] unknown = offer();
    fields(unknown).putInt(CollectiveFrame.HEADER_BYTES + 16, 77);
    scene.says(unknown);
    scene.rank.cycle(0);
    assertThat(scene.sent(DONE).getInt(20)).isOne();
    scene.says(done(0));
    scene.rank.cycle(0);
    assertThat(scene.sent(GRANT).get(2)).as("stageIndex").isOne();
    assertThat(handle.isDone()).isFalse();
  }

  @Test
  void aPeerThatCannotReachOurMemoryIsSentTheData() {
    Handle<?> handle = scene.submit(PAIR, SHARED_ALLGATHER, 4);
    scene.says(offer());
    scene.says(done(1));
    scene.rank.cycle(0);
    assertThat(scene.sent(EAGER).get(2)).as("stageIndex").isOne();
    assertThat(failure(handle)).isNull();
  }

  @Test
  void aPeerWithPrivateMemorySendsItsData() {
    Handle<?> handle = scene.submit(PAIR, SHARED_ALLTOALL, LONG);
    byte[] isPrivate = offer();
    fields(isPrivate).putInt(20, 0);
    scene.says(isPrivate);
    scene.says(done(0));
    scene.rank.cycle(0);
    assertThat(scene.sent(GRANT).get(2)).as("stageIndex").isOne();
    assertThat(scene.rank.transport().sent()).noneMatch(frame -> frame[1] == DONE);
    assertThat(handle.isDone()).isFalse();
  }

  @Test
  void aPartBeyondItsMemoryAborts() {
    for (long[] part : new long[][] {{8, LONG}, {-8, 1}, {Long.MAX_VALUE, 1}, {0, LONG + 1}}) {
      try (var fresh = new PeerScene()) {
        Handle<?> handle = fresh.submit(PAIR, SHARED_ALLGATHER, LONG);
        byte[] frame = fresh.sent(SHARE).array().clone();
        fields(frame).putLong(OFFSET_AT, part[0]).putLong(ROWS_AT, part[1]);
        fresh.says(frame);
        fresh.rank.cycle(0);
        assertThat(failure(handle)).hasMessageContaining("that its memory lacks");
      }
    }
  }

  @Test
  void anImpossibleCountAborts() {
    for (int kind : new int[] {SHARED_ALLGATHER, SHARED_ALLTOALL}) {
      for (long rows : new long[] {-1, Long.MIN_VALUE, Long.MAX_VALUE, 1L << 50}) {
        try (var fresh = new PeerScene()) {
          Handle<?> handle = fresh.submit(PAIR, kind, 4);
          byte[] frame = fresh.sent(SHARE).array().clone();
          fields(frame).putLong(ROWS_AT, rows);
          fresh.says(frame);
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
  void aSecondOfferAborts() {
    Handle<?> handle = scene.submit(WORLD, SHARED_ALLGATHER, LONG);
    scene.says(offer());
    scene.says(offer());
    scene.rank.cycle(0);
    assertThat(failure(handle)).hasMessageContaining("an offer of its memory that is not due");
  }

  @Test
  void anOfferByAPeerWithoutDataAborts() {
    Handle<?> handle = scene.submit(WORLD, SHARED_BROADCAST, LONG);
    scene.says(offer());
    scene.rank.cycle(0);
    assertThat(failure(handle)).hasMessageContaining("an offer of its memory that is not due");
  }

  @Test
  void theRootWaitsUntilAllHaveTakenItsTensor() {
    Handle<?> handle = scene.submit(WORLD, SHARED_BROADCAST, LONG);
    scene.says(done(0));
    scene.rank.cycle(0);
    assertThat(handle.isDone()).isFalse();
    scene.two.says(done(0));
    scene.rank.cycle(0);
    assertThat(failure(handle)).isNull();
  }

  @Test
  void anOfferOfTheWrongLengthAborts() {
    Handle<?> handle = scene.submit(WORLD, SHARED_ALLGATHER, LONG);
    scene.says(like(scene.sent(SHARE), SHARE, new byte[56]));
    scene.rank.cycle(0);
    assertThat(failure(handle)).hasMessageContaining("an offer of 88 bytes");
  }

  @Test
  void aSecondEndAborts() {
    Handle<?> handle = scene.submit(WORLD, SHARED_ALLGATHER, LONG);
    scene.says(done(0));
    scene.says(done(0));
    scene.rank.cycle(0);
    assertThat(failure(handle)).hasMessageContaining("that is not due");
  }
}
