// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import io.weft.perf.ffm.CMemory;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The data of a measurement. Element i at scale s and phase p is `s * ((i + p) mod 1024 + 1)`, in
/// float32. Sums over up to 180 ranks of scales 1 to n are exact. A result left from another phase
/// differs in every element.
///
/// Filling and comparing read a tile of 8 KiB, so that only the tensor itself passes through the
/// caches. Confined to the rank's main thread.
public final class Tiles {

  private static final int PERIOD = 1024;
  private static final int PERIOD_BYTES = PERIOD * Float.BYTES;

  private final MemorySegment[] byScale;

  /// Creates tiles of scales 0 to `largestScale`, which live as long as `arena`.
  public Tiles(Arena arena, int largestScale) {
    byScale = new MemorySegment[largestScale + 1];
    for (int scale = 0; scale <= largestScale; scale++) {
      // Two periods, so that a run of one period is contiguous from any phase.
      MemorySegment tile = arena.allocate(2L * PERIOD_BYTES, 64);
      for (int k = 0; k < 2 * PERIOD; k++) {
        tile.setAtIndex(ValueLayout.JAVA_FLOAT, k, (float) scale * (k % PERIOD + 1));
      }
      byScale[scale] = tile;
    }
  }

  /// Fills all of `data`.
  public void fill(MemorySegment data, int scale, long phase) {
    MemorySegment tile = byScale[scale];
    long from = phase % PERIOD * Float.BYTES;
    for (long at = 0; at < data.byteSize(); at += PERIOD_BYTES) {
      MemorySegment.copy(tile, from, data, at, Math.min(PERIOD_BYTES, data.byteSize() - at));
    }
  }

  /// Returns whether `bytes` of `data` from `offset` equal the bytes that `fill` writes.
  public boolean same(MemorySegment data, long offset, long bytes, int scale, long phase) {
    MemorySegment tile = byScale[scale];
    long from = phase % PERIOD * Float.BYTES;
    for (long at = 0; at < bytes; at += PERIOD_BYTES) {
      long run = Math.min(PERIOD_BYTES, bytes - at);
      boolean same =
          data.isNative()
              ? CMemory.same(data, offset + at, tile, from, run)
              : MemorySegment.mismatch(data, offset + at, offset + at + run, tile, from, from + run)
                  < 0;
      if (!same) {
        return false;
      }
    }
    return true;
  }
}
