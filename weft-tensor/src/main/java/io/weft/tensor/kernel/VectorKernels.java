// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;

/// Kernels on the Vector API that work on native memory without a copy. Loaded only if the module
/// `jdk.incubator.vector` is resolved. Heap tiles handle the operations that are slow on the Vector
/// API, binary16 arithmetic and integer division, and all memory on the heap, which has no address.
final class VectorKernels implements KernelSet {

  private final KernelSet tiles = new TileKernels(HalfVectors::canonical);

  @Override
  public String description() {
    return "vector " + FloatVectors.SPECIES.vectorBitSize();
  }

  @Override
  public ReduceKernel reducer(DType dtype, ReduceOp op) {
    return dtype == DType.FLOAT16
        ? tiles.reducer(dtype, op)
        : anywhere(dtype, op, loop(dtype, op), tiles.reducer(dtype, op));
  }

  private static ReduceKernel loop(DType dtype, ReduceOp op) {
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

  @Override
  public Divider divider(DType dtype) {
    return switch (dtype) {
      case BFLOAT16 -> anywhere(dtype, BfloatVectors::divide, tiles.divider(dtype));
      case FLOAT32 -> anywhere(dtype, FloatVectors::divide, tiles.divider(dtype));
      case FLOAT64 -> anywhere(dtype, DoubleVectors::divide, tiles.divider(dtype));
      case FLOAT16, UINT8, INT8, INT32, INT64 -> tiles.divider(dtype);
    };
  }

  /// Returns a reducer for any segments: `loop`, which accesses all memory through `Runs.in`, or
  /// `tiles` if a run lies on the heap, as in messages that arrived early. A single element, such
  /// as a loss or a count, is combined before these checks. Memory that another thread might free
  /// during the call is held.
  private static ReduceKernel anywhere(
      DType dtype, ReduceOp op, ReduceKernel loop, ReduceKernel tiles) {
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

  /// Returns a divider for any segment, chosen as for reducers.
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
}
