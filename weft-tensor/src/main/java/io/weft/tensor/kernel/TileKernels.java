// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;

/// Kernels on heap tiles, which `HeapTile` explains.
final class TileKernels implements KernelSet {

  private final ThreadLocal<HalfTiles> half;

  TileKernels() {
    this(HalfTiles::canonical);
  }

  /// Creates kernels whose binary16 NaNs are made canonical by `nans`.
  TileKernels(HalfTiles.Canonical nans) {
    half = HalfTiles.tiles(nans);
  }

  @Override
  public String description() {
    return "heap tiles";
  }

  @Override
  public ReduceKernel reducer(DType dtype, ReduceOp op) {
    return HeapTile.reducer(tiles(dtype), op);
  }

  @Override
  public Divider divider(DType dtype) {
    return HeapTile.divider(tiles(dtype));
  }

  private ThreadLocal<? extends HeapTile<?>> tiles(DType dtype) {
    return switch (dtype) {
      case FLOAT16 -> half;
      case BFLOAT16 -> BfloatTiles.TILES;
      case FLOAT32 -> FloatTiles.TILES;
      case FLOAT64 -> DoubleTiles.TILES;
      case UINT8 -> ByteTiles.UNSIGNED;
      case INT8 -> ByteTiles.SIGNED;
      case INT32 -> IntTiles.TILES;
      case INT64 -> LongTiles.TILES;
    };
  }
}
