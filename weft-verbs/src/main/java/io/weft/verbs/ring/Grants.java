// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import io.weft.transport.region.LocalRegion;
import io.weft.verbs.memory.Pin;
import io.weft.verbs.memory.Pins;
import java.util.Arrays;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/// The regions that this side has offered to one peer: regions in memory of this transport that the
/// peer has used twice. Their memory is not reused until the peer has confirmed that it no longer
/// accesses it, or is lost. Polling thread only.
public final class Grants {

  private final Pins pins;
  private final RegionNotices notes;
  private final int endpoint;
  // Indexed as the region table: the regions used at least once, and whether they are offered.
  private @Nullable Pin[] seen = new @Nullable Pin[64];
  private final BitSet offered = new BitSet();

  /// Creates an empty set of offers.
  ///
  /// @param outbound sends the offers to the peer
  /// @param endpoint number under which memory records the peer's access
  public Grants(Pins pins, VerbsOutbound outbound, int endpoint) {
    this.pins = pins;
    notes = outbound.notes();
    this.endpoint = endpoint;
  }

  /// Records that the peer has used an open region through the rings.
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

  /// Withdraws an offered region that was closed.
  public void withdraw(Pin pin) {
    notes.add(VerbsFrame.WITHDRAW, pin.key());
  }

  /// Handles the peer's confirmation that it no longer accesses the region.
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

  /// Ends all offers, because the peer can no longer access this side's memory.
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
