// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.clock;

/// An event at a moment of virtual time. It may be scheduled again after it has happened.
public abstract class ScheduledEvent {

  static final int NOWHERE = -1;

  /// The position in the queue's heap.
  int position = NOWHERE;

  /// Constructor for subclasses.
  protected ScheduledEvent() {}

  /// Runs the event; the queue's time is the event's.
  protected abstract void happen();

  /// Returns whether the event is scheduled.
  public final boolean isDue() {
    return position != NOWHERE;
  }
}
