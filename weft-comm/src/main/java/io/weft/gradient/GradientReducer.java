// SPDX-License-Identifier: Apache-2.0
package io.weft.gradient;

import io.weft.collective.AllreduceRequest;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.Handle;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorView;

/// Averages the gradients of a step over the ranks of a communicator. An optimizer uses it in place
/// of the communicator, so that the reduction can change independently of the optimizer.
/// Thread-safe.
public interface GradientReducer {

  /// The factory that reduces each gradient unchanged in a separate allreduce.
  Factory ALLREDUCE =
      communicator ->
          (name, gradient, average) ->
              communicator.allreduce(
                  new AllreduceRequest(
                      gradient, average, ReduceOp.AVERAGE, CollectiveOptions.named(name)));

  /// Writes the element-wise mean of all ranks' `gradient` to `average`, which is the same memory
  /// or disjoint. All ranks must reduce the same names, in any order. Borrows both tensors until
  /// the handle completes. Throws and fails as `Communicator.allreduce` does.
  Handle<TensorView> reduce(String name, TensorView gradient, TensorView average);

  /// Averages a gradient in place.
  default Handle<TensorView> reduce(String name, TensorView gradient) {
    return reduce(name, gradient, gradient);
  }

  /// Creates equivalent reducers. A factory does not refer to a communicator; each reducer does.
  interface Factory {

    /// Creates a reducer for the ranks of this communicator.
    GradientReducer reducer(Communicator communicator);
  }
}
