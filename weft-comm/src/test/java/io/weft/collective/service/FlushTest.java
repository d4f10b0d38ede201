// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import static io.weft.collective.service.PeerScene.ALLREDUCE;
import static io.weft.collective.service.PeerScene.EAGER;
import static io.weft.collective.service.PeerScene.PAIR;
import static io.weft.collective.service.PeerScene.like;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.comm.Handle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks when the messages that a rank posts are flushed.
@Timeout(60)
class FlushTest {

  /// The offset of the sequence number of a name's use in a frame.
  private static final int SEQUENCE = 16;

  private final PeerScene scene = new PeerScene();

  @Test
  void theLastMessagesOfAnOperationAreFlushedInItsLastDutyCycle() {
    Handle<?> first = scene.submit(PAIR, ALLREDUCE, 1);
    byte[] part = like(scene.sent(EAGER), EAGER, new byte[4]);
    scene.says(part);
    assertThat(first.isDone()).isTrue();
    // The frame belongs to the next use of the name, which is not submitted here yet.
    byte[] early = part.clone();
    early[SEQUENCE]++;
    scene.says(early);
    Handle<?> second = scene.submit(PAIR, ALLREDUCE, 1);
    assertThat(second.isDone()).isTrue();
    assertThat(scene.rank.transport().isFlushed()).isTrue();
    scene.close();
  }
}
