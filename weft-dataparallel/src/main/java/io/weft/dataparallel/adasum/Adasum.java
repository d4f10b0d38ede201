// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.adasum;

import io.weft.collective.Communicator;
import io.weft.comm.Handle;
import io.weft.dataparallel.worker.Worker;
import io.weft.gradient.GradientReducer;
import io.weft.tensor.DType;
import io.weft.tensor.TensorView;

/// Combines the gradients of two ranks as a(1 - a·b/2|a|²) + b(1 - a·b/2|b|²), and those of more in
/// a tree [ADASUM §3]: gradients that are orthogonal are added, gradients that agree are averaged.
/// So the learning rate need not grow or fall with the number of ranks. Each tensor by itself, of
/// FLOAT32; the products are summed in FLOAT64. The same bits on all ranks. Thread-safe.
///
/// Each rank sends the whole tensor log2 n times.
public final class Adasum implements GradientReducer {

  /// Makes such reducers.
  public static final GradientReducer.Factory REDUCERS = Adasum::new;

  private final Communicator communicator;
  private final Worker worker;

  /// Over the ranks of this communicator, which is borrowed. Throws `IllegalArgumentException` if
  /// their number is not a power of two.
  public Adasum(Communicator communicator) {
    if (Integer.bitCount(communicator.size()) != 1) {
      throw new IllegalArgumentException(
          "Adasum combines ranks in pairs, so that there are 1, 2, 4, 8... of them; here are "
              + communicator.size()
              + ": start another number, or average");
    }
    this.communicator = communicator;
    this.worker = new Worker("weft-adasum-" + communicator.rank());
  }

  /// The combination of all ranks' `gradient` in `average`.
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
