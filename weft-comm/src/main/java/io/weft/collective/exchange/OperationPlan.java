// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

import org.jspecify.annotations.Nullable;

/// What an operation does, stage by stage, and what it brings. On the progress thread.
public interface OperationPlan<T> {

  /// The stage of this index, or null when all are done. The earlier stages are complete.
  @Nullable Stage stage(int index);

  /// What the handle completes with; asked once, after the last stage.
  T result();

  /// Frees what was allocated; the operation has failed.
  void discard();
}
