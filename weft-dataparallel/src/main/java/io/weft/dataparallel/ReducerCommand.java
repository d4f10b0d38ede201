// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import java.util.List;

/// A submission of a user thread to the layer's thread.
sealed interface ReducerCommand {

  /// A submission of one tensor or one group.
  ///
  /// @param nanos submission time by the layer's clock
  record Tensors(List<? extends PendingOperation> tensors, long nanos) implements ReducerCommand {}

  /// The declaration that this rank has no more data.
  record Join(ReductionHandle<Integer> handle) implements ReducerCommand {}
}
