// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.fusion;

import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/// Memory of the transport in which tensors travel together. Allocated when it is first needed, and
/// again, twice as long or more, when more is needed. Owned; confined to one thread.
public final class FusionBuffer implements AutoCloseable {

  private static final long LEAST_BYTES = 64 << 10;

  private final BiFunction<DType, Shape, TensorLease> allocator;
  private final long threshold;
  private @Nullable TensorLease memory;

  /// @param allocator gives ownership
  /// @param threshold up to which length it grows by doubling
  public FusionBuffer(BiFunction<DType, Shape, TensorLease> allocator, long threshold) {
    this.allocator = allocator;
    this.threshold = threshold;
  }

  /// A vector of so many bytes; its former content is lost. Borrowed until the next call.
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

  /// Gives the memory back; nothing may be under way in it.
  @Override
  public void close() {
    if (memory != null) {
      memory.close();
      memory = null;
    }
  }
}
