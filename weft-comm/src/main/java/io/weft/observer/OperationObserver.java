// SPDX-License-Identifier: Apache-2.0
package io.weft.observer;

import io.weft.comm.CommException;
import org.jspecify.annotations.Nullable;

/// Watches the operations of one rank. Times are those of the event itself, by the progress
/// thread's clock. `submitted` and `withdrawn` come on the user's thread, the others where the
/// progress thread runs: in order for one operation. Must neither block nor throw. One that is
/// added while operations are under way hears of their ends without their beginnings.
public interface OperationObserver {

  /// Whether it hears of `NEGOTIATED`, `SENT` and `REDUCED`, which are not told where nobody does:
  /// so that no time is read that nobody wants. Any thread.
  ///
  /// Hot path.
  default boolean hearsStages() {
    return true;
  }

  /// A user hands an operation over.
  ///
  /// Hot path.
  default void submitted(ObservedOperation operation) {}

  /// There was no room for it; it is over, and was nowhere but here.
  default void withdrawn(ObservedOperation operation, CommException cause, long nanos) {}

  /// It has come so far.
  ///
  /// Hot path.
  ///
  /// @param exchange which of its exchanges this is about, from 0
  default void reached(
      ObservedOperation operation, OperationStage stage, int exchange, long nanos) {}

  /// It has completed, or has failed; perhaps before its first exchange.
  ///
  /// Hot path.
  ///
  /// @param failure null: it has completed
  default void ended(ObservedOperation operation, @Nullable CommException failure, long nanos) {}
}
