// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import io.weft.verbs.memory.Pins;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The regions that one peer has offered, indexed as in the peer's table. A withdrawn offer remains
/// until another one replaces it, so that later operations on it are refused locally. Polling
/// thread only.
final class PeerGrants {

  private final RegionNotices notes;
  private @Nullable PeerGrant[] byPlace = new @Nullable PeerGrant[64];

  PeerGrants(RegionNotices notes) {
    this.notes = notes;
  }

  /// Returns the offer of this region, which may be withdrawn; null if it does not exist.
  ///
  /// Hot path.
  @Nullable PeerGrant find(int key) {
    int place = Pins.place(key);
    PeerGrant offer = place < byPlace.length ? byPlace[place] : null;
    return offer != null && offer.key() == key ? offer : null;
  }

  /// Adds an offer of the peer.
  void add(PeerGrant offer) throws VerbsFault {
    int place = Pins.place(offer.key());
    if (place >= byPlace.length) {
      byPlace = Arrays.copyOf(byPlace, Math.max(place + 1, 2 * byPlace.length));
    }
    PeerGrant before = byPlace[place];
    // The owner waits for the answer, so that each index has at most one pending notice.
    if (before != null && !before.isAnswered()) {
      throw new VerbsFault("an offer in place of " + name(before.key()) + ", which is in use");
    }
    byPlace[place] = offer;
  }

  /// Withdraws an offer whose region the peer has closed; the peer is told when the last access has
  /// ended.
  void withdraw(int key) throws VerbsFault {
    PeerGrant offer = find(key);
    if (offer == null || offer.isWithdrawn()) {
      throw new VerbsFault("a withdrawal of " + name(key) + ", which was not offered");
    }
    offer.withdraw();
    answerIfOver(offer);
  }

  /// Counts an operation as ended, and answers a withdrawal if it was the last.
  ///
  /// Hot path.
  void settle(PeerGrant offer) {
    offer.settle();
    answerIfOver(offer);
  }

  private void answerIfOver(PeerGrant offer) {
    if (offer.isEnded()) {
      notes.answer(offer);
    }
  }

  private static String name(int key) {
    return "region " + Integer.toHexString(key);
  }
}
