// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import java.util.List;

/// What user threads hand to the layer's thread.
sealed interface Submission {

  /// One tensor, or a group.
  ///
  /// @param nanos when it was submitted, by the layer's clock
  record Tensors(List<? extends Pending> tensors, long nanos) implements Submission {}

  /// This rank has no more data.
  record Join(ReductionHandle<Integer> handle) implements Submission {}
}
