// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;

/// Rounds a tensor's gradients to 16 bits and adds the rounding error to the next gradient. One
/// thread.
final class HalfFeedback implements PushEncoder {

  private static final int TILE = 1024;

  private final String name;
  private final float[] residual;
  private final float[] tile = new float[TILE];
  private final short[] halves = new short[TILE];

  /// @param name of the tensor, for errors
  HalfFeedback(String name, int elements) {
    this.name = name;
    this.residual = new float[elements];
  }

  @Override
  public void encode(MemorySegment gradients, MemorySegment into) {
    for (int pass = 0; pass < 2; pass++) { // the first pass checks, the second encodes
      for (int first = 0; first < residual.length; first += TILE) {
        int count = Math.min(TILE, residual.length - first);
        MemorySegment.copy(gradients, JAVA_FLOAT_UNALIGNED, 4L * first, tile, 0, count);
        if (pass == 0) {
          check(first, count);
        } else {
          keep(first, count);
          MemorySegment.copy(halves, 0, into, JAVA_SHORT_UNALIGNED, 2L * first, count);
        }
      }
    }
  }

  private void check(int first, int count) {
    for (int i = 0; i < count; i++) {
      float sum = tile[i] + residual[first + i];
      if (!Float.isFinite(Float.float16ToFloat(Float.floatToFloat16(sum)))) {
        throw new IllegalArgumentException(
            ("tensor '%s': element %d is %s, which 16 bits cannot hold (at most 65504); nothing was"
                    + " pushed; scale it, or let gradients travel as FLOAT32")
                .formatted(name, first + i, sum));
      }
    }
  }

  private void keep(int first, int count) {
    for (int i = 0; i < count; i++) {
      float sum = tile[i] + residual[first + i];
      halves[i] = Float.floatToFloat16(sum);
      residual[first + i] = sum - Float.float16ToFloat(halves[i]);
    }
  }
}
