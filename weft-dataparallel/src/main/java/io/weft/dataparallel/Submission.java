// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import java.util.List;

/// A submission of a user thread to the layer's thread.
sealed interface Submission {

  /// A submission of one tensor or one group.
  ///
  /// @param nanos submission time by the layer's clock
  record Tensors(List<? extends Pending> tensors, long nanos) implements Submission {}

  /// The declaration that this rank has no more data.
  record Join(ReductionHandle<Integer> handle) implements Submission {}
}
