// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import io.weft.verbs.memory.Pins;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// What one peer has offered us, by the place that the region has in the peer's table. An offer
/// that is withdrawn stays until another one takes its place, so that whoever uses it still is
/// refused without asking. Polling thread only.
final class PeerGrants {

  private final RegionNotices notes;
  private @Nullable PeerGrant[] byPlace = new @Nullable PeerGrant[64];

  PeerGrants(RegionNotices notes) {
    this.notes = notes;
  }

  /// The offer of this region, which may be withdrawn; null if there is none.
  ///
  /// Hot path.
  @Nullable PeerGrant find(int key) {
    int place = Pins.place(key);
    PeerGrant offer = place < byPlace.length ? byPlace[place] : null;
    return offer != null && offer.key() == key ? offer : null;
  }

  /// The peer offers a region.
  void add(PeerGrant offer) throws VerbsFault {
    int place = Pins.place(offer.key());
    if (place >= byPlace.length) {
      byPlace = Arrays.copyOf(byPlace, Math.max(place + 1, 2 * byPlace.length));
    }
    PeerGrant before = byPlace[place];
    // Its owner waits for our answer: so there is one note for each place at most.
    if (before != null && !before.isAnswered()) {
      throw new VerbsFault("an offer in place of " + name(before.key()) + ", which we still use");
    }
    byPlace[place] = offer;
  }

  /// The peer has closed a region that it had offered; it hears when we do not touch it any more.
  void withdraw(int key) throws VerbsFault {
    PeerGrant offer = find(key);
    if (offer == null || offer.isWithdrawn()) {
      throw new VerbsFault("a withdrawal of " + name(key) + ", which was not offered");
    }
    offer.withdraw();
    answerIfOver(offer);
  }

  /// An operation does not use it any more.
  ///
  /// Hot path.
  void settle(PeerGrant offer) {
    offer.settle();
    answerIfOver(offer);
  }

  private void answerIfOver(PeerGrant offer) {
    if (offer.isOver()) {
      notes.answer(offer);
    }
  }

  private static String name(int key) {
    return "region " + Integer.toHexString(key);
  }
}
