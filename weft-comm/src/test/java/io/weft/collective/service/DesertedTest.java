// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.collective.frame.CollectiveFrame;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks that an operation that waits for a member that has left fails at all members. The waiting
/// rank notifies the others, because another member may have received its data from the departed
/// one and would then wait for the waiting rank.
@Timeout(60)
class DesertedTest {

  private static final int DESERTED = 12;
  private static final byte[] GOODBYE = {(byte) 0xff, 0, 0, 0, 0, 0, 0, 0};
  private static final int AUX = 20;

  private final PeerScene scene = new PeerScene();

  /// Returns the collective frames of one type that a peer has received.
  private static List<byte[]> got(ScriptedTransport.Peer peer, int type) {
    return peer.got().stream().filter(f -> f[0] == 0 && f[1] == type).toList();
  }

  @Test
  void aRankThatWaitsForADepartedMemberTellsTheOthers() {
    Handle<?> handle = scene.submit(PeerScene.WORLD, PeerScene.BY_RING, 3);
    scene.says(GOODBYE);
    assertThat(PeerScene.failure(handle)).isInstanceOf(CommException.PeerLost.class);
    assertThat(got(scene.two, DESERTED)).as("what rank 2 hears").hasSize(1);
    MemorySegment told = MemorySegment.ofArray(got(scene.two, DESERTED).getFirst());
    MemorySegment sent = MemorySegment.ofArray(scene.sent(PeerScene.EAGER).array());
    assertThat(CollectiveFrame.key(told)).as("the operation").isEqualTo(CollectiveFrame.key(sent));
    assertThat(CollectiveFrame.sequence(told))
        .as("its use")
        .isEqualTo(CollectiveFrame.sequence(sent));
    assertThat(CollectiveFrame.aux(told)).as("who has left").isZero();
    assertThat(got(scene.zero, DESERTED)).as("what rank 0 hears, which has left").isEmpty();
    scene.close();
  }

  /// Rank 1 has lost no peer: rank 2 waits for rank 0 in vain, and rank 1 would wait for rank 2.
  @Test
  void aRankThatIsToldFailsTheOperationAndNamesBoth() {
    Handle<?> handle = scene.submit(PeerScene.WORLD, PeerScene.BY_RING, 3);
    tellDeserted(0);
    assertThat(PeerScene.failure(handle))
        .isInstanceOfSatisfying(
            CommException.PeerLost.class, lost -> assertThat(lost.rank()).isZero())
        .hasMessageContainingAll("rank 0 on ", "left the job while rank 2 on ", "waited for it");
    scene.close();
  }

  @Test
  void aReportOfANonexistentMemberAborts() {
    Handle<?> handle = scene.submit(PeerScene.WORLD, PeerScene.BY_RING, 3);
    tellDeserted(17);
    assertThat(PeerScene.failure(handle))
        .isInstanceOf(CommException.Aborted.class)
        .hasMessageContaining("rank 2 on ")
        .hasMessageContaining("member 17 has left");
    scene.close();
  }

  /// Rank 2 reports that `member` has left during the current operation.
  private void tellDeserted(int member) {
    byte[] frame = PeerScene.like(scene.sent(PeerScene.EAGER), DESERTED, new byte[0]);
    frame[2] = 0;
    ByteBuffer.wrap(frame).order(ByteOrder.LITTLE_ENDIAN).putInt(AUX, member);
    scene.two.says(frame);
    scene.rank.cycle(0);
  }
}
