// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.clock;

/// Something that happens at a moment of virtual time. May be used again once it has happened.
public abstract class ScheduledEvent {

  static final int NOWHERE = -1;

  /// Where it stands in the timeline's heap.
  int position = NOWHERE;

  /// For subclasses.
  protected ScheduledEvent() {}

  /// Happens; the timeline's time is the event's.
  protected abstract void happen();

  /// Whether it is still to come.
  public final boolean isDue() {
    return position != NOWHERE;
  }
}
