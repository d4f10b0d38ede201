// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.ring;

import io.weft.verbs.memory.Pin;
import io.weft.verbs.memory.PoolBlock;
import java.util.HashMap;
import java.util.Map;

/// The transport's memory as one peer's device may access it: each block of the pool is offered to
/// the peer. The memory of a closed region, and of a discarded block, is not reused until the peer
/// has confirmed that it no longer accesses it, or is lost. Polling thread only.
public final class Grants {

  private final RegionNotices notes;
  private final int endpoint;
  // By the remote key of the device.
  private final Map<Integer, PoolBlock> blocks = new HashMap<>();
  // The closed regions that the peer has not left, by key.
  private final Map<Integer, Pin> closing = new HashMap<>();

  /// Creates an empty set of offers.
  ///
  /// @param outbound sends the offers to the peer
  /// @param endpoint number under which memory records the peer's access
  public Grants(VerbsOutbound outbound, int endpoint) {
    notes = outbound.notes();
    this.endpoint = endpoint;
  }

  /// Offers a block of the pool, if it was not offered before.
  public void offer(PoolBlock block) {
    int key = block.registration().remoteKey();
    if (!blocks.containsKey(key) && block.offer(endpoint)) {
      blocks.put(key, block);
      notes.add(VerbsFrame.OFFER, key, block.memory().address(), block.memory().byteSize());
    }
  }

  /// Withdraws a block that the pool has discarded.
  public void withdraw(PoolBlock block) {
    notes.add(VerbsFrame.WITHDRAW, block.registration().remoteKey());
  }

  /// Handles the peer's confirmation that it no longer accesses the block.
  void withdrawn(int key) throws VerbsFault {
    PoolBlock block = blocks.get(key);
    if (block == null || !block.isDiscarded()) {
      throw new VerbsFault("leave of block " + Integer.toHexString(key) + ", not withdrawn");
    }
    blocks.remove(key);
    block.left(endpoint);
  }

  /// Tells the peer that a region is closed.
  public void close(Pin region) {
    closing.put(region.key(), region);
    notes.add(VerbsFrame.CLOSED, region.key());
  }

  /// Handles the peer's confirmation that it no longer accesses the region.
  void left(int key) throws VerbsFault {
    Pin region = closing.remove(key);
    if (region == null) {
      throw new VerbsFault("leave of region " + Integer.toHexString(key) + ", not closed");
    }
    region.left(endpoint);
  }

  /// Ends all offers, because the peer can no longer access this side's memory.
  public void end() {
    closing.values().forEach(region -> region.left(endpoint));
    closing.clear();
    blocks.values().forEach(block -> block.left(endpoint));
    blocks.clear();
  }
}
