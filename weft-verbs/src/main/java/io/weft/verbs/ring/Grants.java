// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import io.weft.transport.region.LocalRegion;
import io.weft.verbs.memory.Pin;
import io.weft.verbs.memory.Pins;
import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/// What we have offered one peer: regions in memory of this transport that it has come to a second
/// time. Their memory is not given to anybody else before the peer has said that it will not touch
/// it any more, or is gone. Polling thread only.
public final class Grants {

  private final Pins pins;
  private final RegionNotices notes;
  private final int endpoint;
  // By place in the table: who was used once, and which of them are offered.
  private @Nullable Pin[] seen = new @Nullable Pin[64];
  private final BitSet offered = new BitSet();

  /// Nothing is offered yet.
  ///
  /// @param outbound by which the peer hears of it
  /// @param endpoint number of the endpoint, by which memory remembers who may touch it
  public Grants(Pins pins, VerbsOutbound outbound, int endpoint) {
    this.pins = pins;
    notes = outbound.notes();
    this.endpoint = endpoint;
  }

  /// The peer has used an open region by way of the rings.
  ///
  /// Hot path.
  void used(LocalRegion region) {
    Pin pin = pins.of(region);
    if (pin == null || !pin.isOwn()) {
      return;
    }
    int place = Pins.place(region.key());
    if (offered.get(place)) {
      return;
    }
    if (place >= seen.length) {
      seen = Arrays.copyOf(seen, Math.max(place + 1, 2 * seen.length));
    }
    if (seen[place] != pin) {
      seen[place] = pin;
    } else if (pin.offer(endpoint)) {
      offered.set(place);
      notes.add(
          VerbsFrame.OFFER,
          region.key(),
          pin.registration().remoteKey(),
          region.segment().address(),
          region.segment().byteSize());
    }
  }

  /// A region that was offered is closed.
  public void withdraw(Pin pin) {
    notes.add(VerbsFrame.WITHDRAW, pin.key());
  }

  /// The peer does not touch it any more.
  void withdrawn(int key) throws VerbsFault {
    int place = Pins.place(key);
    Pin pin = place < seen.length ? seen[place] : null;
    if (pin == null || pin.key() != key || !offered.get(place) || !pin.isWithdrawn()) {
      throw new VerbsFault(
          "leave of region " + Integer.toHexString(key) + ", which was not withdrawn");
    }
    offered.clear(place);
    seen[place] = null;
    pin.left(endpoint);
  }

  /// The peer is gone, and with it its way to our memory.
  public void end() {
    for (int place = offered.nextSetBit(0); place >= 0; place = offered.nextSetBit(place + 1)) {
      Pin pin = seen[place];
      if (pin != null) {
        pin.left(endpoint);
      }
    }
    offered.clear();
  }
}
