// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.comm.CommException;
import io.weft.transport.TransportException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/// Checks that names chosen by others are printable in messages.
class ForeignNamesTest {

  private static final String HOSTILE = "a\u001b[2J\nb\u202ec\u009b2Jd";
  private static final String SHOWN = "a?[2J?b?c?2Jd";

  @Test
  void messagesOfExceptionsAreOnePrintableLine() {
    for (RuntimeException each :
        List.of(
            new CommException.Mismatch(HOSTILE),
            new CommException.Setup(HOSTILE, null),
            new CommException.Aborted(HOSTILE, null),
            new CommException.PeerLost(HOSTILE, 1, null),
            new TransportException.Refused(HOSTILE, null))) {
      assertThat(each).hasMessage(SHOWN);
    }
  }

  @Test
  void theHostNameOfAnotherRankIsPrintable() {
    var told =
        new RankEntry(
            2, "1", new HostIdentity("x", "boot"), Processors.UNKNOWN, List.of(), List.of());
    String text = new String(told.encode(), StandardCharsets.UTF_8);
    byte[] forged = text.replace("\nx\n", "\na\u001b[2J\u202ec\n").getBytes(StandardCharsets.UTF_8);
    assertThat(RankEntry.decode(forged).host().name()).isEqualTo("a?[2J?c");
  }

  @Test
  void theReasonInAFrameAboutALossIsPrintable() {
    var lost = (MeshFrame.Lost) MeshFrame.read(new MeshFrame.Lost(1, 2, HOSTILE, "x").encode());
    assertThat(lost).isNotNull();
    assertThat(lost.why()).isEqualTo(SHOWN);
  }
}
