// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.memory;

import io.weft.transport.region.RegionOwner;
import io.weft.verbs.device.Registration;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/// One region's claim on memory that the device may access, and on the owner of that memory. It
/// ends when the region is closed and no peer's device may access the memory. Thread-safe.
public final class Pin implements RegionOwner {

  private final Pins pins;
  private final Holding holding;
  private final Registration registration;
  private final @Nullable PoolBlock block;
  private final long offset;
  private @Nullable Object owner;
  private volatile int key;
  private volatile boolean exported;
  private volatile boolean closed;
  // After the close: the endpoints whose peers may still access the memory. Guarded by this.
  private BitSet remaining = new BitSet();

  Pin(Pins pins, Holding holding, @Nullable Object owner) {
    this.pins = pins;
    this.holding = holding;
    registration = holding.registration();
    block = holding.block();
    offset = holding.offset();
    this.owner = owner;
  }

  /// Returns the registration of the region's memory; valid while the region is open or has posted
  /// work.
  ///
  /// Hot path.
  public Registration registration() {
    return registration;
  }

  /// Returns the offset of the region in the registration.
  ///
  /// Hot path.
  public long offset() {
    return offset;
  }

  /// Returns the block of the transport's memory that contains the region; null for foreign memory,
  /// which is not offered to peers' devices.
  ///
  /// Hot path.
  public @Nullable PoolBlock block() {
    return block;
  }

  /// Returns the key of the region; 0 before it has one.
  public int key() {
    return key;
  }

  void entered(int itsKey) {
    key = itsKey;
  }

  /// Returns the address by which a peer recognizes a block that contains the region; 0 if peers
  /// use the region only through the rings, or it is closed.
  @Override
  public long exportedAddress() {
    exported = true; // before the look at `closed`, so that a close sees it
    if (block == null || closed) {
      return 0;
    }
    return registration.memory().address() + offset;
  }

  /// Returns the endpoints whose peers have not left the closed region.
  public synchronized int[] remaining() {
    return remaining.stream().toArray();
  }

  /// Records that the peer of this endpoint has left the closed region, or is lost.
  public void left(int endpoint) {
    boolean ended;
    synchronized (this) {
      boolean last = remaining.get(endpoint) && remaining.cardinality() == 1;
      remaining.clear(endpoint);
      ended = last;
    }
    if (ended) {
      holding.release();
    }
  }

  /// Handles the close: the peers that may access the block must leave the region first.
  @Override
  public void withdrawn() {
    closed = true;
    pins.forget(this);
    owner = null;
    BitSet peers = block == null || !exported ? new BitSet() : block.offeredTo();
    synchronized (this) {
      remaining = peers;
    }
    if (peers.isEmpty()) {
      holding.release();
    } else {
      pins.withdraw(this);
    }
  }

  @Override
  public void released() {
    closed = true;
    pins.forget(this);
    owner = null;
    holding.release();
  }

  @Override
  public boolean isMappable() {
    return false;
  }

  @Override
  public synchronized boolean isVisited() {
    return !remaining.isEmpty();
  }

  @Override
  public String toString() {
    return "pin of " + owner;
  }
}
