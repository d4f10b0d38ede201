// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;

/// Kernels on the Vector API, on native memory without a copy. Loaded only where the module
/// `jdk.incubator.vector` is resolved. What the Vector API cannot do fast goes to heap tiles: the
/// arithmetic of binary16 and the division of integers.
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
        : AddressSpace.reducer(dtype, loop(dtype, op));
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
        ? AddressSpace.twin(dtype, FloatVectors::sumTwice)
        : KernelSet.super.twin(dtype, op);
  }

  @Override
  public Divider divider(DType dtype) {
    return switch (dtype) {
      case FLOAT16 -> HalfTiles.divider(HalfVectors::canonical);
      case BFLOAT16 -> AddressSpace.divider(dtype, BfloatVectors::divide);
      case FLOAT32 -> AddressSpace.divider(dtype, FloatVectors::divide);
      case FLOAT64 -> AddressSpace.divider(dtype, DoubleVectors::divide);
      case UINT8, INT8, INT32, INT64 -> tiles.divider(dtype);
    };
  }
}
