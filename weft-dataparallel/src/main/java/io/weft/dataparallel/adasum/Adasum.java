// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.adasum;

import io.weft.collective.Communicator;
import io.weft.comm.Handle;
import io.weft.dataparallel.worker.Worker;
import io.weft.gradient.GradientReducer;
import io.weft.tensor.DType;
import io.weft.tensor.TensorView;

/// A reducer that combines the gradients of two ranks as a(1 - a·b/2|a|²) + b(1 - a·b/2|b|²), and
/// those of more ranks in a tree [ADASUM §3]. Orthogonal gradients are added; equal gradients are
/// averaged. The learning rate therefore need not change with the number of ranks. Each tensor is
/// combined by itself and must be FLOAT32; the products are summed in FLOAT64. The result has the
/// same bits on all ranks. Thread-safe.
///
/// Each rank sends the whole tensor log2 n times.
public final class Adasum implements GradientReducer {

  /// The factory of Adasum reducers.
  public static final GradientReducer.Factory REDUCERS = Adasum::new;

  private final Communicator communicator;
  private final Worker worker;

  /// Creates a reducer over the ranks of this communicator, which is borrowed. Throws
  /// `IllegalArgumentException` if their number is not a power of two.
  public Adasum(Communicator communicator) {
    if (Integer.bitCount(communicator.size()) != 1) {
      throw new IllegalArgumentException(
          "Adasum combines ranks in pairs and needs 1, 2, 4, 8... ranks; this communicator has "
              + communicator.size()
              + ": start another number, or average");
    }
    this.communicator = communicator;
    this.worker = new Worker("weft-adasum-" + communicator.rank());
  }

  /// Writes the combination of all ranks' `gradient` to `average`.
  @Override
  public Handle<TensorView> reduce(String name, TensorView gradient, TensorView average) {
    if (gradient.dtype() != DType.FLOAT32
        || average.dtype() != DType.FLOAT32
        || !gradient.shape().equals(average.shape())) {
      throw new IllegalArgumentException(
          "gradient '%s': Adasum takes two tensors of FLOAT32 and one shape, got %s and %s"
              .formatted(name, gradient.signature(), average.signature()));
    }
    if (gradient.data().address() != average.data().address()) {
      average.data().copyFrom(gradient.data());
    }
    return new AdasumExchange(communicator, worker, name, average).start();
  }
}
