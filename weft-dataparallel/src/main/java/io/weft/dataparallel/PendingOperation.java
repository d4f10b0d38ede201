// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.comm.CommException;
import io.weft.dataparallel.frame.TensorSignature;
import io.weft.tensor.TensorView;
import java.time.Duration;
import java.util.List;

/// A submitted operation of this rank whose handle is not done.
sealed interface PendingOperation permits PendingTensor, PendingCollective {

  String name();

  TensorSignature signature();

  /// Returns the deadline of the request; zero = the deadline of the options.
  Duration deadline();

  /// Returns its tensors, borrowed.
  List<TensorView> tensors();

  /// Returns the tensors that the operation writes.
  List<TensorView> written();

  /// Returns the submission time by the timeline's clock; 0 = not recorded.
  long submittedNanos();

  void fail(CommException cause);

  /// Returns true if the operation combines the tensors of all ranks.
  default boolean isReduction() {
    return switch (signature().collective()) {
      case ALLREDUCE, REDUCE_SCATTER -> true;
      default -> false;
    };
  }

  default String words() {
    return signature().collective() + " '" + name() + "'";
  }
}
