// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import io.weft.comm.Handle;
import io.weft.dataparallel.worker.Worker;
import io.weft.tensor.TensorView;

/// The exchange of the gradients of one name, step after step, with what it keeps between steps:
/// residuals and buffers. One exchange at a time.
interface TensorExchange {

  /// Elements of each gradient.
  long elements();

  /// Compresses and submits, on the calling thread. Throws `IllegalStateException` while the
  /// exchange before is under way.
  ///
  /// @param factor the average is multiplied by it
  Handle<TensorView> start(TensorView gradient, TensorView average, double factor);

  /// Makes the exchange of a name.
  @FunctionalInterface
  interface Opening {

    /// @param elements of each gradient
    /// @param worker computes between collectives
    TensorExchange open(String name, long elements, Worker worker);
  }
}
