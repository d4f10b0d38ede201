// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import org.junit.jupiter.api.Test;

/// Checks the regions that a peer offers and withdraws.
class PeerGrantsTest {

  private static final int PLACE = 5;
  private static final int RING_BYTES = 1 << 18;

  private final Wire wire =
      new Wire(Arena.ofAuto().allocate(RING_BYTES), Arena.ofAuto().allocate(RING_BYTES));
  private final RegionNotices notes = new RegionNotices(wire);
  private final PeerGrants offers = new PeerGrants(notes);

  private static PeerGrant offer(int generation) {
    return new PeerGrant(generation << 16 | PLACE, 1 << 20, 4096, 9);
  }

  @Test
  void aPlaceMayBeOfferedAgainAfterOurAnswerIsSent() throws VerbsFault {
    offers.add(offer(1));
    offers.withdraw(offer(1).key());
    assertThat(offers.find(offer(1).key())).isNotNull();
    assertThat(notes.push()).isOne();
    offers.add(offer(2));
    assertThat(offers.find(offer(1).key())).isNull();
    assertThat(offers.find(offer(2).key())).isNotNull();
  }

  /// Otherwise a peer that receives nothing from us could fill our memory with answers.
  @Test
  void aPlaceMayNotBeOfferedAgainBeforeOurAnswerIsSent() throws VerbsFault {
    offers.add(offer(1));
    offers.withdraw(offer(1).key());
    assertThatThrownBy(() -> offers.add(offer(2)))
        .isInstanceOf(VerbsFault.class)
        .hasMessageContaining("region 10005");
  }

  @Test
  void theWithdrawalOfAnOfferInUseIsAnsweredAfterTheUse() throws VerbsFault {
    PeerGrant offer = offer(1);
    offers.add(offer);
    offer.claim();
    offers.withdraw(offer.key());
    assertThat(notes.isEmpty()).isTrue();
    offers.settle(offer);
    assertThat(notes.push()).isOne();
  }

  @Test
  void onlyAnOfferCanBeWithdrawn() {
    assertThatThrownBy(() -> offers.withdraw(offer(1).key())).isInstanceOf(VerbsFault.class);
  }
}
