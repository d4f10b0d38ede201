// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;

/// Kernels on heap tiles. A piece of each run is copied to an array that stays in the first-level
/// cache, combined there by a plain loop, and copied back. The JIT compiles such a loop to vector
/// instructions, but not a loop whose operands are both native memory.
final class TileKernels implements KernelSet {

  @Override
  public String description() {
    return "heap tiles";
  }

  @Override
  public ReduceKernel reducer(DType dtype, ReduceOp op) {
    return switch (dtype) {
      case FLOAT16 -> HalfTiles.reducer(op, HalfTiles::canonical);
      case BFLOAT16 ->
          (into, at, left, p, right, q, n) ->
              BfloatTiles.reduce(op, into, at, left, p, right, q, n);
      case FLOAT32 ->
          (into, at, left, p, right, q, n) -> FloatTiles.reduce(op, into, at, left, p, right, q, n);
      case FLOAT64 ->
          (into, at, left, p, right, q, n) ->
              DoubleTiles.reduce(op, into, at, left, p, right, q, n);
      case UINT8, INT8 ->
          (into, at, left, p, right, q, n) ->
              ByteTiles.reduce(dtype, op, into, at, left, p, right, q, n);
      case INT32 ->
          (into, at, left, p, right, q, n) -> IntTiles.reduce(op, into, at, left, p, right, q, n);
      case INT64 ->
          (into, at, left, p, right, q, n) -> LongTiles.reduce(op, into, at, left, p, right, q, n);
    };
  }

  @Override
  public Divider divider(DType dtype) {
    return switch (dtype) {
      case FLOAT16 -> HalfTiles.divider(HalfTiles::canonical);
      case BFLOAT16 -> BfloatTiles::divide;
      case FLOAT32 -> FloatTiles::divide;
      case FLOAT64 -> DoubleTiles::divide;
      case UINT8, INT8 -> (data, p, n, divisor) -> ByteTiles.divide(dtype, data, p, n, divisor);
      case INT32 -> IntTiles::divide;
      case INT64 -> LongTiles::divide;
    };
  }
}
