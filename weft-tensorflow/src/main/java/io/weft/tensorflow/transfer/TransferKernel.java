// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

/// One end of a transfer, in one session.
sealed interface TransferKernel permits SendKernel, ReceiveKernel {

  /// Runs once. `done` may be used during this call only.
  void start(long context, long done);

  /// TensorFlow has deleted the kernel.
  void close();

  /// Makes the kernel of a node.
  interface Maker {
    /// Throws `IllegalArgumentException` or `IllegalStateException` for attributes that are wrong.
    TransferKernel make(TransferEnd end);
  }
}
