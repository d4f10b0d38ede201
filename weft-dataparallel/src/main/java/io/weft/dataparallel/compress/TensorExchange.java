// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import io.weft.comm.Handle;
import io.weft.dataparallel.worker.Worker;
import io.weft.tensor.TensorView;

/// The repeated exchange of the gradients of one name, with its residuals and buffers. At most one
/// exchange is in flight.
interface TensorExchange {

  long elements();

  /// Compresses the gradient and submits the exchange, on the calling thread. Throws
  /// `IllegalStateException` while the exchange before is in flight.
  ///
  /// @param factor factor by which the average is multiplied
  Handle<TensorView> start(TensorView gradient, TensorView average, double factor);

  @FunctionalInterface
  interface Opening {

    /// @param worker computes between collectives
    TensorExchange open(CompressedGradient gradient, Worker worker);
  }
}
