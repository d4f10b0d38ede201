// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.comm.Handle;
import io.weft.gradient.GradientReducer;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorView;
import java.util.List;

/// A reducer of tensors over the ranks of a communicator, with the options of each tensor's
/// request. Implementations may convert tensors before and after the wire. Thread-safe.
public interface TensorReducer extends GradientReducer {

  /// Combines the input of all ranks, element by element, into the output on all ranks. Throws
  /// `IllegalStateException` if a tensor of this name is in flight on this rank.
  Handle<TensorView> allreduce(ReductionRequest request);

  /// Reduces a group, which all ranks must submit as one: if one of its tensors fails, all fail.
  /// Completes with the outputs in the order of the requests.
  Handle<List<TensorView>> reduceAll(List<ReductionRequest> group);

  @Override
  default Handle<TensorView> reduce(String name, TensorView gradient, TensorView average) {
    return allreduce(ReductionRequest.of(name, gradient, average, ReduceOp.AVERAGE));
  }
}
