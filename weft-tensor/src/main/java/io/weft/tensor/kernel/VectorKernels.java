// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import java.lang.ref.Reference;

/// Kernels on the Vector API, on native memory without a copy. Loaded only where the module
/// `jdk.incubator.vector` is resolved. What the Vector API cannot do fast goes to heap tiles: the
/// arithmetic of binary16 and the division of integers. So does memory in the heap, which has no
/// address.
final class VectorKernels implements KernelSet {

  private final KernelSet tiles = new TileKernels();

  @Override
  public String description() {
    return "vector " + FloatVectors.SPECIES.vectorBitSize();
  }

  @Override
  public Reducer reducer(DType dtype, ReduceOp op) {
    return dtype == DType.FLOAT16
        ? HalfTiles.reducer(op, HalfVectors::canonical)
        : anywhere(dtype, loop(dtype, op), tiles.reducer(dtype, op));
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
    boolean sums = op == ReduceOp.SUM || op == ReduceOp.AVERAGE;
    return sums && dtype == DType.FLOAT32
        ? anywhere(dtype, FloatVectors::sumTwice, tiles.twin(dtype, op))
        : KernelSet.super.twin(dtype, op);
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
  /// run lies in the heap, as messages do that came early. Whoever calls it keeps the memory until
  /// it returns.
  private static Reducer anywhere(DType dtype, Reducer loop, Reducer tiles) {
    return (into, at, left, p, right, q, elements) -> {
      if (!(into.isNative() && left.isNative() && right.isNative())) {
        tiles.combine(into, at, left, p, right, q, elements);
        return;
      }
      long bytes = Runs.bytes(dtype, into, at, left, p, right, q, elements);
      try {
        loop.combine(
            Runs.in(into),
            Runs.at(into, at, bytes),
            Runs.in(left),
            Runs.at(left, p, bytes),
            Runs.in(right),
            Runs.at(right, q, bytes),
            elements);
      } finally {
        Reference.reachabilityFence(into);
        Reference.reachabilityFence(left);
        Reference.reachabilityFence(right);
      }
    };
  }

  /// The same for a reducer that stores twice.
  private static Reducer.Twin anywhere(DType dtype, Reducer.Twin loop, Reducer.Twin tiles) {
    return (into, at, also, alsoAt, left, p, right, q, elements) -> {
      if (!(into.isNative() && also.isNative() && left.isNative() && right.isNative())) {
        tiles.combine(into, at, also, alsoAt, left, p, right, q, elements);
        return;
      }
      long bytes = Runs.bytes(dtype, into, at, left, p, right, q, elements);
      Runs.bytes(dtype, also, alsoAt, elements);
      try {
        loop.combine(
            Runs.in(into),
            Runs.at(into, at, bytes),
            Runs.in(also),
            Runs.at(also, alsoAt, bytes),
            Runs.in(left),
            Runs.at(left, p, bytes),
            Runs.in(right),
            Runs.at(right, q, bytes),
            elements);
      } finally {
        Reference.reachabilityFence(into);
        Reference.reachabilityFence(also);
        Reference.reachabilityFence(left);
        Reference.reachabilityFence(right);
      }
    };
  }

  /// The same for a divider.
  private static Divider anywhere(DType dtype, Divider loop, Divider tiles) {
    return (data, offset, elements, divisor) -> {
      if (!data.isNative()) {
        tiles.divide(data, offset, elements, divisor);
        return;
      }
      long bytes = Runs.bytes(dtype, data, offset, elements);
      try {
        loop.divide(Runs.in(data), Runs.at(data, offset, bytes), elements, divisor);
      } finally {
        Reference.reachabilityFence(data);
      }
    };
  }
}
