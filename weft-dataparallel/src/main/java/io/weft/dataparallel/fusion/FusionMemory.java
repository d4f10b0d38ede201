// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.fusion;

import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import java.util.function.BiFunction;

/// The memory of fused tensors.
///
/// @param allocator allocates memory of the transport, which the caller owns
/// @param threshold length of the longest buffer, in bytes
public record FusionMemory(BiFunction<DType, Shape, TensorLease> allocator, long threshold) {

  /// Returns a buffer, which allocates its memory on first use.
  public FusionBuffer buffer() {
    return new FusionBuffer(allocator, threshold);
  }
}
