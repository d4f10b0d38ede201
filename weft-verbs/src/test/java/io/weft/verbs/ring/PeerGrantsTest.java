// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.foreign.Arena;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/// Checks the blocks that a peer offers and withdraws, and the regions that it closes.
class PeerGrantsTest {

  private static final int RING_BYTES = 1 << 18;
  private static final int REGION = 1 << 16 | 5;
  private static final int BLOCK = 9;
  private static final long ADDRESS = 1 << 20;

  private final Wire wire =
      new Wire(Arena.ofAuto().allocate(RING_BYTES), Arena.ofAuto().allocate(RING_BYTES));
  private final RegionNotices notes = new RegionNotices(wire);
  private final PeerGrants offers = new PeerGrants(notes);

  private static PeerGrant block(int number) {
    return new PeerGrant(ADDRESS + number * 8192L, 4096, BLOCK + number);
  }

  @Test
  void memoryIsFoundInsideOneBlock() throws VerbsFault {
    for (int number : new int[] {2, 0, 1}) {
      offers.add(block(number));
    }
    for (int number = 0; number < 3; number++) {
      long begin = ADDRESS + number * 8192L;
      assertThat(offers.find(begin, 4096)).isNotNull();
      assertThat(offers.find(begin + 4095, 1)).isNotNull();
      assertThat(Objects.requireNonNull(offers.find(begin + 7, 9)).deviceKey())
          .isEqualTo(BLOCK + number);
      assertThat(offers.find(begin - 1, 2)).isNull();
      assertThat(offers.find(begin + 1, 4096)).isNull();
      assertThat(offers.find(begin + 5000, 1)).isNull();
      assertThat(offers.find(begin, -1)).isNull();
    }
    assertThat(offers.find(ADDRESS, Long.MAX_VALUE)).isNull();
    assertThat(offers.find(-1, 1)).isNull();
  }

  @Test
  void theWithdrawalOfABlockInUseIsAnsweredAfterTheUse() throws VerbsFault {
    PeerGrant offer = block(0);
    offers.add(offer);
    offer.claim();
    offers.withdraw(BLOCK);
    assertThat(notes.isEmpty()).isTrue();
    assertThat(offers.find(ADDRESS, 1)).isNull();
    offers.settle(offer, REGION);
    assertThat(notes.push()).isOne();
  }

  @Test
  void onlyAnOfferCanBeWithdrawnAndOnlyOnce() throws VerbsFault {
    assertThatThrownBy(() -> offers.withdraw(BLOCK)).isInstanceOf(VerbsFault.class);
    PeerGrant offer = block(0);
    offers.add(offer);
    offer.claim();
    offers.withdraw(BLOCK);
    assertThatThrownBy(() -> offers.withdraw(BLOCK)).isInstanceOf(VerbsFault.class);
  }

  @Test
  void theCloseOfARegionIsAnsweredAfterItsLastOperation() throws VerbsFault {
    PeerGrant offer = block(0);
    offers.add(offer);
    offer.claim();
    offer.claim();
    offer.claim();
    offers.close(REGION, 2);
    assertThat(offers.isClosed(REGION)).isTrue();
    offers.settle(offer, REGION);
    offers.settle(offer, REGION + 1);
    assertThat(notes.isEmpty()).isTrue();
    offers.settle(offer, REGION);
    assertThat(notes.push()).isOne();
    assertThat(offers.find(ADDRESS, 1)).isNotNull();
  }

  @Test
  void theNextRegionOfAPlaceIsOpen() throws VerbsFault {
    offers.close(REGION, 0);
    assertThat(notes.push()).isOne();
    int next = REGION + (1 << 16);
    assertThat(offers.isClosed(next)).isFalse();
    offers.close(next, 0);
    assertThat(offers.isClosed(next)).isTrue();
    assertThat(offers.isClosed(REGION)).as("an earlier region of the place").isTrue();
    assertThat(offers.isClosed(next + (1 << 16))).isFalse();
    assertThat(offers.isClosed(next + 1)).as("a region of another place").isFalse();
    assertThatThrownBy(() -> offers.close(next, 0)).isInstanceOf(VerbsFault.class);
  }

  /// Otherwise a peer that receives nothing could fill this side's memory.
  @Test
  void noticesAndOffersAreBounded() {
    assertThatThrownBy(
            () -> {
              for (int generation = 1; generation < 1 << 20; generation++) {
                notes.check();
                offers.close(generation, 0);
              }
            })
        .isInstanceOf(VerbsFault.class)
        .hasMessageContaining("notices");
    assertThatThrownBy(
            () -> {
              for (int number = 0; number < 10_000; number++) {
                offers.add(block(number));
              }
            })
        .isInstanceOf(VerbsFault.class)
        .hasMessageContaining("offers");
  }
}
