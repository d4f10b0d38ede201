// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.comm.CommException;
import io.weft.dataparallel.frame.TensorSignature;
import io.weft.tensor.TensorView;
import java.time.Duration;
import java.util.List;

/// What was submitted here and whose handle is not done.
sealed interface Pending permits PendingTensor, PendingCollective {

  String name();

  /// What ranks must agree on.
  TensorSignature signature();

  /// Of the request; zero = as the options say.
  Duration deadline();

  /// Its tensors, borrowed.
  List<TensorView> tensors();

  /// Those of them that are written.
  List<TensorView> written();

  /// By the clock of the timeline; 0 = not recorded.
  long submittedNanos();

  void fail(CommException cause);

  /// Whether the tensors of all ranks are combined.
  default boolean isReduction() {
    return switch (signature().collective()) {
      case ALLREDUCE, REDUCE_SCATTER -> true;
      default -> false;
    };
  }

  /// For messages.
  default String words() {
    return signature().collective() + " '" + name() + "'";
  }
}
