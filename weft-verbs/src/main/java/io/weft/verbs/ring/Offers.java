// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import io.weft.verbs.memory.Pins;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// What one peer has offered us, by the place that the region has in the peer's table. An offer
/// that is withdrawn stays until another one takes its place, so that whoever uses it still is
/// refused without asking. Polling thread only.
final class Offers {

  private final Notes notes;
  private @Nullable Offer[] byPlace = new @Nullable Offer[64];

  Offers(Notes notes) {
    this.notes = notes;
  }

  /// The offer of this region, which may be withdrawn; null if there is none.
  ///
  /// Hot path.
  @Nullable Offer find(int key) {
    int place = Pins.place(key);
    Offer offer = place < byPlace.length ? byPlace[place] : null;
    return offer != null && offer.key() == key ? offer : null;
  }

  /// The peer offers a region.
  void add(Offer offer) throws VerbsFault {
    int place = Pins.place(offer.key());
    if (place >= byPlace.length) {
      byPlace = Arrays.copyOf(byPlace, Math.max(place + 1, 2 * byPlace.length));
    }
    Offer before = byPlace[place];
    // Its owner waits for our answer: so there is one note for each place at most.
    if (before != null && !before.isAnswered()) {
      throw new VerbsFault("an offer in place of " + name(before.key()) + ", which we still use");
    }
    byPlace[place] = offer;
  }

  /// The peer has closed a region that it had offered; it hears when we do not touch it any more.
  void withdraw(int key) throws VerbsFault {
    Offer offer = find(key);
    if (offer == null || offer.isWithdrawn()) {
      throw new VerbsFault("a withdrawal of " + name(key) + ", which was not offered");
    }
    offer.withdraw();
    answerIfOver(offer);
  }

  /// An operation does not use it any more.
  ///
  /// Hot path.
  void settle(Offer offer) {
    offer.settle();
    answerIfOver(offer);
  }

  private void answerIfOver(Offer offer) {
    if (offer.isOver()) {
      notes.answer(offer);
    }
  }

  private static String name(int key) {
    return "region " + Integer.toHexString(key);
  }
}
