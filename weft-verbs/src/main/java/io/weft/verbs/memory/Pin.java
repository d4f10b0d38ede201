// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.memory;

import io.weft.transport.region.RegionOwner;
import io.weft.verbs.device.Registration;
import java.util.BitSet;
import org.jspecify.annotations.Nullable;

/// One region's claim on memory that the device may access, and on whatever keeps that memory. It
/// ends when the region is closed and no peer's device may touch the memory any more. Any thread.
public final class Pin implements RegionOwner {

  private final Pins pins;
  private final Holding holding;
  private final Registration registration;
  private final long offset;
  private final boolean isOwn;
  private @Nullable Object owner;
  private volatile int key;
  // Numbers of the endpoints whose peers may touch the memory. Guarded by this.
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

  /// What the region lies in; valid while it is open or work of it is posted.
  ///
  /// Hot path.
  public Registration registration() {
    return registration;
  }

  /// Where the region begins there.
  ///
  /// Hot path.
  public long offset() {
    return offset;
  }

  /// Whether it is memory of the transport, which peers' devices may be offered.
  public boolean isOwn() {
    return isOwn;
  }

  /// The region's; 0 as long as it has none.
  public int key() {
    return key;
  }

  void entered(int itsKey) {
    key = itsKey;
  }

  /// The peer of an endpoint with this number may have its device touch the memory; false if the
  /// region is closed.
  public synchronized boolean offer(int endpoint) {
    if (!withdrawn) {
      offered.set(endpoint);
    }
    return !withdrawn;
  }

  /// Whether the region is closed.
  public synchronized boolean isWithdrawn() {
    return withdrawn;
  }

  /// The endpoints whose peers may still touch the memory.
  public synchronized int[] offeredTo() {
    return offered.stream().toArray();
  }

  /// That peer does not touch it any more.
  public void left(int endpoint) {
    boolean over;
    synchronized (this) {
      offered.clear(endpoint);
      over = withdrawn && offered.isEmpty();
    }
    if (over) {
      holding.release();
    }
  }

  @Override
  public void withdrawn() {
    pins.forget(this);
    boolean over;
    synchronized (this) {
      withdrawn = true;
      over = offered.isEmpty();
    }
    owner = null;
    if (over) {
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
