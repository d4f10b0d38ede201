// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import io.weft.comm.Handle;
import io.weft.dataparallel.Reducer;
import io.weft.dataparallel.ReductionRequest;
import io.weft.dataparallel.TensorReducer;
import io.weft.tensor.DType;
import io.weft.tensor.TensorView;
import java.util.List;

/// A reducer that sends FLOAT32 tensors in 16 bits over the reducer below, which may fuse them.
/// Thread-safe.
///
/// @param below reduces the narrowed tensors
/// @param type FLOAT16 or BFLOAT16
record NarrowReducer(Reducer below, DType type) implements TensorReducer {

  @Override
  public Handle<TensorView> allreduce(ReductionRequest request) {
    return below.allreduce(request.narrowed(type));
  }

  @Override
  public Handle<List<TensorView>> reduceAll(List<ReductionRequest> group) {
    return below.reduceAll(group.stream().map(each -> each.narrowed(type)).toList());
  }
}
