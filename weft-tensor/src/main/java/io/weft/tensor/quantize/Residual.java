// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.quantize;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The residual of a tensor: the quantization error of earlier exchanges or pushes, and that of the
/// current one, which counts only on success. Initially zeros. One thread at a time.
public final class Residual {

  private MemorySegment kept;
  private MemorySegment next;

  /// Creates a residual of `elements` FLOAT32 zeros.
  public Residual(long elements) {
    Arena arena = Arena.ofAuto();
    kept = arena.allocate(Math.max(1, elements) * Float.BYTES, 64);
    next = arena.allocate(Math.max(1, elements) * Float.BYTES, 64);
  }

  /// Returns the residual before the current exchange or push.
  public MemorySegment kept() {
    return kept;
  }

  /// Returns the memory for the new residual of the current exchange or push.
  public MemorySegment next() {
    return next;
  }

  /// Replaces the residual by the new one after a success.
  public void commit() {
    MemorySegment before = kept;
    kept = next;
    next = before;
  }
}
