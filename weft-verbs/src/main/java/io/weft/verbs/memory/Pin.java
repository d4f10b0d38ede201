// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.memory;

import io.weft.transport.region.Landlord;
import io.weft.verbs.device.Registration;
import org.jspecify.annotations.Nullable;

/// One region's claim on memory that the device may access, and on whatever keeps that memory. Any
/// thread.
public final class Pin implements Landlord {

  private final Pins pins;
  private final Holding holding;
  private final Registration registration;
  private final long offset;
  private @Nullable Object owner;
  private volatile int index = -1;

  Pin(Pins pins, Holding holding, @Nullable Object owner) {
    this.pins = pins;
    this.holding = holding;
    registration = holding.registration();
    offset = holding.offset();
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

  /// The region can be found under this index.
  void at(int place) {
    index = place;
  }

  @Override
  public void withdrawn() {
    if (index >= 0) {
      pins.forget(index, this);
    }
    holding.release();
    owner = null;
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
