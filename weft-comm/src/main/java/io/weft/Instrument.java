// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.collective.CommunicatorObservers;
import io.weft.observer.Observers;

/// An instrument that watches one rank from its first event to its last, such as a flight recorder,
/// a timeline or a metrics port. Its methods are called once each, in the order of their
/// declaration.
public interface Instrument {

  /// Adds its observers to those of the rank, before the rank's first event.
  default void observe(Observers operations, CommunicatorObservers communicators) {}

  /// Called when the rank has joined. All ranks of a job are called at the same point, so this
  /// method may be collective, except on a rank that joins while the job runs. Throws
  /// `CommException.Setup` with a remedy.
  default void joined(Weft weft) {}

  /// Called when the rank is about to leave and its communicators still work; omitted if the rank
  /// leaves inside a callback. Must not throw.
  default void leaving() {}

  /// Called after the rank's last event. Must not throw.
  default void left() {}
}
