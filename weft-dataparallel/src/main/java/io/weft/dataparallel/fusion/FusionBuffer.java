// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.fusion;

import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/// A buffer of transport memory for fused tensors. It is allocated on first use, and reallocated
/// with at least twice the length, up to the threshold, when a batch does not fit. Owned; confined
/// to one thread.
public final class FusionBuffer implements AutoCloseable {

  private static final long LEAST_BYTES = 64 << 10;

  private final BiFunction<DType, Shape, TensorLease> allocator;
  private final long threshold;
  private @Nullable TensorLease memory;

  /// @param allocator allocates memory, which the caller owns
  /// @param threshold length up to which the buffer grows by doubling, in bytes
  public FusionBuffer(BiFunction<DType, Shape, TensorLease> allocator, long threshold) {
    this.allocator = allocator;
    this.threshold = threshold;
  }

  /// Returns a vector of `bytes` bytes, whose content is undefined. Borrowed until the next call.
  public TensorView of(DType dtype, long bytes) {
    TensorLease current = memory;
    if (current == null || current.view().bytes() < bytes) {
      close();
      current = allocator.apply(DType.UINT8, Shape.of(grown(bytes)));
      memory = current;
    }
    MemorySegment part = current.view().data().asSlice(0, bytes);
    return new TensorView(dtype, Shape.of(bytes / dtype.bytes()), part, current.view().kind());
  }

  private long grown(long bytes) {
    long power = Long.highestOneBit(Math.max(LEAST_BYTES, bytes) * 2 - 1);
    return Math.max(bytes, Math.min(power, Math.max(threshold, LEAST_BYTES)));
  }

  /// Frees the memory, which must not be in use.
  @Override
  public void close() {
    if (memory != null) {
      memory.close();
      memory = null;
    }
  }
}
