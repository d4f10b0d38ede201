// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

import org.jspecify.annotations.Nullable;

/// The stages of an operation, and its result. Confined to the progress thread.
public interface OperationPlan<T> {

  /// Returns the stage of this index, or null after the last one. The earlier stages are complete.
  @Nullable Stage stage(int index);

  /// Returns the value with which the handle completes. Called once, after the last stage.
  T result();

  /// Frees allocated memory after the operation has failed.
  void discard();
}
