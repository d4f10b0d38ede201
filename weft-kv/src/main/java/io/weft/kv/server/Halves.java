// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.weft.kv.table.TensorPart;
import java.lang.foreign.MemorySegment;

/// Conversions between FLOAT16 and FLOAT32, tile by tile. Confined to the shard's thread.
final class Halves {

  private static final int TILE = 2048;

  private final short[] halves = new short[TILE];
  private final float[] floats = new float[TILE];
  private final MemorySegment floatTile = MemorySegment.ofArray(floats);

  /// Converts FLOAT16 to FLOAT32.
  ///
  /// Hot path.
  ///
  /// @param from of any alignment, in any memory
  void widen(MemorySegment from, MemorySegment into, long elements) {
    for (long done = 0; done < elements; done += TILE) {
      int n = (int) Math.min(TILE, elements - done);
      MemorySegment.copy(from, JAVA_SHORT_UNALIGNED, 2 * done, halves, 0, n);
      for (int i = 0; i < n; i++) {
        floats[i] = Float.float16ToFloat(halves[i]);
      }
      MemorySegment.copy(floats, 0, into, JAVA_FLOAT_UNALIGNED, 4 * done, n);
    }
  }

  /// Converts the values of a part to FLOAT16, rounded to nearest even.
  ///
  /// Hot path.
  void narrow(TensorPart from, MemorySegment into) {
    for (long done = 0; done < from.elements(); done += TILE) {
      int n = (int) Math.min(TILE, from.elements() - done);
      from.read(done, n, floatTile, 0);
      narrowTile(into, done, n);
    }
  }

  /// Converts FLOAT32 to FLOAT16, rounded to nearest even.
  ///
  /// Hot path.
  void narrow(MemorySegment from, MemorySegment into, long elements) {
    for (long done = 0; done < elements; done += TILE) {
      int n = (int) Math.min(TILE, elements - done);
      MemorySegment.copy(from, JAVA_FLOAT_UNALIGNED, 4 * done, floats, 0, n);
      narrowTile(into, done, n);
    }
  }

  private void narrowTile(MemorySegment into, long done, int n) {
    for (int i = 0; i < n; i++) {
      halves[i] = Float.floatToFloat16(floats[i]);
    }
    MemorySegment.copy(halves, 0, into, JAVA_SHORT_UNALIGNED, 2 * done, n);
  }
}
