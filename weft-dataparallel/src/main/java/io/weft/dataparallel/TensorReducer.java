// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.comm.Handle;
import io.weft.gradient.GradientReducer;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorView;
import java.util.List;

/// Combines tensors over the ranks of a communicator, each as its request says. What a reducer does
/// to tensors on their way is its own. Thread-safe.
public interface TensorReducer extends GradientReducer {

  /// Combines the input of all ranks, element by element, into the output on all. Throws
  /// `IllegalStateException` if a tensor of this name is in flight here.
  Handle<TensorView> allreduce(ReductionRequest request);

  /// The same for a group, which all ranks submit as one: if one of its tensors fails, all do.
  /// Completes with the outputs in the order of the requests.
  Handle<List<TensorView>> reduceAll(List<ReductionRequest> group);

  @Override
  default Handle<TensorView> reduce(String name, TensorView gradient, TensorView average) {
    return allreduce(ReductionRequest.of(name, gradient, average, ReduceOp.AVERAGE));
  }
}
