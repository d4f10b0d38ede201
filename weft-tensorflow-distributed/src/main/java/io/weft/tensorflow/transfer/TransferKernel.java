// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import java.util.List;

/// One end of one or several transfers, in one session.
sealed interface TransferKernel permits SendKernel, ReceiveKernel {

  /// Starts one run. `done` is valid only during this call.
  void start(long context, long done);

  /// Releases a kernel that TensorFlow has deleted.
  void close();

  /// A factory of a node's kernel.
  interface Maker {
    /// Creates a kernel. Throws `IllegalArgumentException` or `IllegalStateException` for invalid
    /// attributes.
    ///
    /// @param ends at least one, all of one part and type
    TransferKernel make(List<TransferEnd> ends);
  }
}
