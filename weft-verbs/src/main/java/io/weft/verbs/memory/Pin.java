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
  private final long offset;
  private final boolean isOwn;
  private @Nullable Object owner;
  private volatile int key;
  // The numbers of the endpoints whose peers may access the memory. Guarded by this.
  private final BitSet offered = new BitSet();
  private boolean withdrawn;

  Pin(Pins pins, Holding holding, @Nullable Object owner) {
    this.pins = pins;
    this.holding = holding;
    registration = holding.registration();
    offset = holding.offset();
    isOwn = holding.isOwn();
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

  /// Returns whether the memory belongs to the transport, so that it may be offered to peers'
  /// devices.
  public boolean isOwn() {
    return isOwn;
  }

  /// Returns the key of the region; 0 before it has one.
  public int key() {
    return key;
  }

  void entered(int itsKey) {
    key = itsKey;
  }

  /// Permits the device of an endpoint's peer to access the memory; returns false if the region is
  /// closed.
  public synchronized boolean offer(int endpoint) {
    if (!withdrawn) {
      offered.set(endpoint);
    }
    return !withdrawn;
  }

  /// Returns whether the region is closed.
  public synchronized boolean isWithdrawn() {
    return withdrawn;
  }

  /// Returns the endpoints whose peers may still access the memory.
  public synchronized int[] offeredTo() {
    return offered.stream().toArray();
  }

  /// Records that the peer of this endpoint no longer accesses the memory.
  public void left(int endpoint) {
    boolean ended;
    synchronized (this) {
      offered.clear(endpoint);
      ended = withdrawn && offered.isEmpty();
    }
    if (ended) {
      holding.release();
    }
  }

  @Override
  public void withdrawn() {
    pins.forget(this);
    boolean ended;
    synchronized (this) {
      withdrawn = true;
      ended = offered.isEmpty();
    }
    owner = null;
    if (ended) {
      holding.release();
    } else {
      pins.withdraw(this);
    }
  }

  @Override
  public boolean isMappable() {
    return false;
  }

  @Override
  public boolean isVisited() {
    return false;
  }

  @Override
  public String toString() {
    return "pin of " + owner;
  }
}
