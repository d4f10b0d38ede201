// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.ffm.StreamingSum;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/// Kernels on the Vector API, on native memory without a copy. Loaded only where the module
/// `jdk.incubator.vector` is resolved. What the Vector API cannot do fast goes to heap tiles: the
/// arithmetic of binary16 and the division of integers. So does memory in the heap, which has no
/// address.
final class VectorKernels implements KernelSet {

  /// A JVM whose vectors are so long uses AVX2 itself.
  private static final int AVX2_BYTES = 32;

  private final KernelSet tiles = new TileKernels();

  @Override
  public String description() {
    return "vector " + FloatVectors.SPECIES.vectorBitSize();
  }

  @Override
  public Reducer reducer(DType dtype, ReduceOp op) {
    return dtype == DType.FLOAT16
        ? HalfTiles.reducer(op, HalfVectors::canonical)
        : anywhere(dtype, op, loop(dtype, op), tiles.reducer(dtype, op));
  }

  private static Reducer loop(DType dtype, ReduceOp op) {
    return switch (dtype) {
      case FLOAT16 -> throw new IllegalArgumentException("binary16 goes to heap tiles");
      case BFLOAT16 -> BfloatVectors.reducer(op);
      case FLOAT32 -> FloatVectors.reducer(op);
      case FLOAT64 -> DoubleVectors.reducer(op);
      case UINT8 -> ByteVectors.unsigned(op);
      case INT8 -> ByteVectors.signed(op);
      case INT32 -> IntVectors.reducer(op);
      case INT64 -> LongVectors.reducer(op);
    };
  }

  /// One pass for what training sums most. Others copy from the cache.
  @Override
  public Reducer.Twin twin(DType dtype, ReduceOp op) {
    return isSumOfFloats(dtype, op)
        ? anywhere(dtype, FloatVectors::sumTwice, tiles.twin(dtype, op))
        : KernelSet.super.twin(dtype, op);
  }

  @Override
  public Optional<Reducer.Twin> streamingTwin(DType dtype, ReduceOp op, int divisor) {
    return isSumOfFloats(dtype, op) && hasAvx2() && StreamingSum.isAllowed()
        ? Optional.of(new Streaming(twin(dtype, op), divider(dtype), divisor))
        : Optional.empty();
  }

  private static boolean hasAvx2() {
    return FloatVectors.SPECIES.vectorByteSize() >= AVX2_BYTES;
  }

  private static boolean isSumOfFloats(DType dtype, ReduceOp op) {
    return dtype == DType.FLOAT32 && (op == ReduceOp.SUM || op == ReduceOp.AVERAGE);
  }

  @Override
  public Divider divider(DType dtype) {
    return switch (dtype) {
      case FLOAT16 -> HalfTiles.divider(HalfVectors::canonical);
      case BFLOAT16 -> anywhere(dtype, BfloatVectors::divide, tiles.divider(dtype));
      case FLOAT32 -> anywhere(dtype, FloatVectors::divide, tiles.divider(dtype));
      case FLOAT64 -> anywhere(dtype, DoubleVectors::divide, tiles.divider(dtype));
      case UINT8, INT8, INT32, INT64 -> tiles.divider(dtype);
    };
  }

  /// A reducer of any segments: by one that finds everything by `Runs.in`, or by `tiles` where a
  /// run lies in the heap, as messages do that came early. One element alone, a loss or a count, is
  /// combined before it is found out which. Memory that somebody might free meanwhile is held.
  private static Reducer anywhere(DType dtype, ReduceOp op, Reducer loop, Reducer tiles) {
    return (into, at, left, p, right, q, elements) -> {
      if (elements == 1) {
        ScalarKernels.reduceOne(dtype, op, into, at, left, p, right, q);
      } else if (!(into.isNative() && left.isNative() && right.isNative())) {
        tiles.combine(into, at, left, p, right, q, elements);
      } else if (Runs.canBeFreed(into, left, right)) {
        Runs.Held.ofThread().reduce(loop, dtype, into, at, left, p, right, q, elements);
      } else {
        Runs.reduce(loop, dtype, into, at, left, p, right, q, elements);
      }
    };
  }

  /// The same for a reducer that stores twice.
  private static Reducer.Twin anywhere(DType dtype, Reducer.Twin loop, Reducer.Twin tiles) {
    return (into, at, also, alsoAt, left, p, right, q, elements) -> {
      if (!(into.isNative() && also.isNative() && left.isNative() && right.isNative())) {
        tiles.combine(into, at, also, alsoAt, left, p, right, q, elements);
      } else if (Runs.canBeFreed(into, left, right) || Runs.canBeFreed(also)) {
        Runs.Held.ofThread()
            .reduceTwice(loop, dtype, into, at, also, alsoAt, left, p, right, q, elements);
      } else {
        Runs.reduceTwice(loop, dtype, into, at, also, alsoAt, left, p, right, q, elements);
      }
    };
  }

  /// The same for a divider.
  private static Divider anywhere(DType dtype, Divider loop, Divider tiles) {
    return (data, offset, elements, divisor) -> {
      if (!data.isNative()) {
        tiles.divide(data, offset, elements, divisor);
      } else if (Runs.canBeFreed(data)) {
        Runs.Held.ofThread().divide(loop, dtype, data, offset, elements, divisor);
      } else {
        Runs.divide(loop, dtype, data, offset, elements, divisor);
      }
    };
  }

  /// `StreamingSum`, to the bit what `plain` and then `divider` give at both places. These take the
  /// end of a run, and runs in the heap or for places that are not aligned.
  ///
  /// @param divisor 1 for none
  private record Streaming(Reducer.Twin plain, Divider divider, int divisor)
      implements Reducer.Twin {

    @Override
    public void combine(
        MemorySegment into,
        long at,
        MemorySegment also,
        long alsoAt,
        MemorySegment left,
        long p,
        MemorySegment right,
        long q,
        long elements) {
      long bytes = Runs.bytes(DType.FLOAT32, into, at, left, p, right, q, elements);
      Runs.bytes(DType.FLOAT32, also, alsoAt, elements);
      boolean streams =
          isAligned(into, at) && isAligned(also, alsoAt) && left.isNative() && right.isNative();
      long whole = streams ? bytes - bytes % StreamingSum.STEP_BYTES : 0;
      if (whole > 0) {
        sumTwice(into, at, also, alsoAt, left, p, right, q, whole);
      }
      long rest = (bytes - whole) / DType.FLOAT32.bytes();
      if (rest > 0) {
        plain.combine(
            into, at + whole, also, alsoAt + whole, left, p + whole, right, q + whole, rest);
        if (divisor > 1) {
          divider.divide(into, at + whole, rest, divisor);
          divider.divide(also, alsoAt + whole, rest, divisor);
        }
      }
    }

    private void sumTwice(
        MemorySegment into,
        long at,
        MemorySegment also,
        long alsoAt,
        MemorySegment left,
        long p,
        MemorySegment right,
        long q,
        long bytes) {
      if (Runs.canBeFreed(into, left, right) || Runs.canBeFreed(also)) {
        Runs.Held.ofThread().stream(into, at, also, alsoAt, left, p, right, q, bytes, divisor);
      } else {
        Runs.stream(into, at, also, alsoAt, left, p, right, q, bytes, divisor);
      }
    }

    private static boolean isAligned(MemorySegment place, long offset) {
      return place.isNative() && (place.address() + offset) % StreamingSum.ALIGNMENT_BYTES == 0;
    }
  }
}
