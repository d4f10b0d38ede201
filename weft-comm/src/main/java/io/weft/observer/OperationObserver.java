// SPDX-License-Identifier: Apache-2.0
package io.weft.observer;

import io.weft.comm.CommException;
import org.jspecify.annotations.Nullable;

/// An observer of the operations of one rank. Times are those of the events, by the progress
/// thread's clock. `submitted` and `withdrawn` are called on the user's thread, the other methods
/// on the thread that runs the agent, in order for each operation; those of a parameter server's
/// operations are called on any thread. Methods must neither block nor throw. An observer that is
/// added later is notified of the ends of operations in progress without their beginnings.
public interface OperationObserver {

  /// Returns whether the observer wants `NEGOTIATED`, `SENT` and `REDUCED`. These are not reported
  /// if no observer wants them, which saves reading the clock. Any thread.
  ///
  /// Hot path.
  default boolean hearsStages() {
    return true;
  }

  /// Called when a user submits an operation.
  ///
  /// Hot path.
  default void submitted(ObservedOperation operation) {}

  /// Called when a submitted operation was rejected for lack of room. It has ended and was known
  /// only to this rank.
  default void withdrawn(ObservedOperation operation, CommException cause, long nanos) {}

  /// Called when an operation has reached a stage.
  ///
  /// Hot path.
  ///
  /// @param exchange the index of the exchange concerned, from 0
  default void reached(
      ObservedOperation operation, OperationStage stage, int exchange, long nanos) {}

  /// Called when an operation has completed or failed, possibly before its first exchange.
  ///
  /// Hot path.
  ///
  /// @param failure the failure, or null if the operation completed
  default void ended(ObservedOperation operation, @Nullable CommException failure, long nanos) {}
}
