// SPDX-License-Identifier: Apache-2.0
package io.weft.gradient;

import io.weft.collective.AllreduceRequest;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.Handle;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorView;

/// Averages the gradients of a step over the ranks of a communicator: what an optimizer uses in
/// place of the communicator, so that how gradients travel can change without it. Thread-safe.
public interface GradientReducer {

  /// Each gradient as an allreduce of its own, as it is.
  Factory ALLREDUCE =
      communicator ->
          (name, gradient, average) ->
              communicator.allreduce(
                  new AllreduceRequest(
                      gradient, average, ReduceOp.AVERAGE, CollectiveOptions.named(name)));

  /// The mean of all ranks' `gradient`, element by element, in `average`: the same memory, or apart
  /// from it. All ranks reduce the same names, in any order. Borrows both until the handle
  /// completes. Throws, and fails, as `Communicator.allreduce` does.
  Handle<TensorView> reduce(String name, TensorView gradient, TensorView average);

  /// In place.
  default Handle<TensorView> reduce(String name, TensorView gradient) {
    return reduce(name, gradient, gradient);
  }

  /// Makes reducers, all alike. It holds no communicator; what it makes holds one.
  interface Factory {

    /// A reducer of gradients of this communicator's ranks.
    GradientReducer over(Communicator communicator);
  }
}
