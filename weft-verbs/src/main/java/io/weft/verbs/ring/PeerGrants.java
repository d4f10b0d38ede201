// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import io.weft.verbs.memory.Pins;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The blocks that one peer has offered, and its regions in them that it has closed. Later
/// operations on a closed region are refused locally. Polling thread only.
final class PeerGrants {

  /// The most blocks of one peer, 64 GiB of the shortest.
  private static final int MAX_BLOCKS = 1 << 12;

  private final RegionNotices notes;
  // In the order of the addresses.
  private PeerGrant[] blocks = {};
  // The key of the last closed region of each place of the peer's table; 0 if there is none.
  private int[] closed = new int[64];
  // The operations in flight on each closed region, by key; the peer is told after the last one.
  private final Map<Integer, Integer> leaving = new HashMap<>();

  PeerGrants(RegionNotices notes) {
    this.notes = notes;
  }

  /// Returns the offered block that contains this memory; null if the device may not access it.
  ///
  /// Hot path.
  @Nullable PeerGrant find(long address, long bytes) {
    int low = 0;
    int high = blocks.length - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      PeerGrant block = blocks[middle];
      if (block.address() > address) {
        high = middle - 1;
      } else if (block.contains(address, bytes)) {
        return block.isWithdrawn() ? null : block;
      } else {
        low = middle + 1;
      }
    }
    return null;
  }

  /// Adds a block that the peer offers.
  void add(PeerGrant block) throws VerbsFault {
    if (blocks.length == MAX_BLOCKS) {
      throw new VerbsFault("more than " + MAX_BLOCKS + " offers");
    }
    PeerGrant[] more = Arrays.copyOf(blocks, blocks.length + 1);
    int at = blocks.length;
    for (; at > 0 && more[at - 1].address() > block.address(); at--) {
      more[at] = more[at - 1];
    }
    more[at] = block;
    blocks = more;
  }

  /// Withdraws a block; the peer is told when the last access has ended.
  void withdraw(int deviceKey) throws VerbsFault {
    for (PeerGrant block : blocks) {
      if (block.deviceKey() == deviceKey && !block.isWithdrawn()) {
        block.withdraw();
        removeIfEnded(block);
        return;
      }
    }
    throw new VerbsFault(
        "a withdrawal of block " + Integer.toHexString(deviceKey) + ", which was not offered");
  }

  private void removeIfEnded(PeerGrant block) {
    if (block.isEnded()) {
      blocks = Arrays.stream(blocks).filter(other -> other != block).toArray(PeerGrant[]::new);
      notes.add(VerbsFrame.WITHDRAWN, block.deviceKey());
    }
  }

  /// Records that the peer has closed a region.
  ///
  /// @param inFlight the number of direct operations on it
  void close(int key, int inFlight) throws VerbsFault {
    int place = Pins.place(key);
    if (place >= closed.length) {
      closed = Arrays.copyOf(closed, Math.max(place + 1, 2 * closed.length));
    }
    if (key == 0 || isClosed(key)) {
      throw new VerbsFault("a second close of region " + Integer.toHexString(key));
    }
    closed[place] = key;
    if (inFlight > 0) {
      leaving.put(key, inFlight);
    } else {
      notes.add(VerbsFrame.LEFT, key);
    }
  }

  /// Returns whether the peer has closed the region with this key, or a later region of its place.
  ///
  /// Hot path.
  boolean isClosed(int key) {
    int place = Pins.place(key);
    int last = place < closed.length ? closed[place] : 0;
    return last != 0 && key - last <= 0; // by generation, which wraps
  }

  /// Counts a direct operation on a region as ended.
  ///
  /// Hot path.
  void settle(PeerGrant block, int key) {
    block.settle();
    removeIfEnded(block);
    if (!leaving.isEmpty()) {
      settleClosed(key);
    }
  }

  private void settleClosed(int key) {
    Integer inFlight = leaving.get(key);
    if (inFlight == null) {
      return;
    }
    if (inFlight > 1) {
      leaving.put(key, inFlight - 1);
    } else {
      leaving.remove(key);
      notes.add(VerbsFrame.LEFT, key);
    }
  }
}
