// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import java.util.List;

/// One end of one or several transfers, in one session.
sealed interface TransferKernel permits SendKernel, ReceiveKernel {

  /// Runs once. `done` may be used during this call only.
  void start(long context, long done);

  /// TensorFlow has deleted the kernel.
  void close();

  /// Makes the kernel of a node.
  interface Maker {
    /// Throws `IllegalArgumentException` or `IllegalStateException` for attributes that are wrong.
    ///
    /// @param ends at least one, all of one part and type
    TransferKernel make(List<TransferEnd> ends);
  }
}
