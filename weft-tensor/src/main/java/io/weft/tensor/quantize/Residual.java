// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.quantize;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The residual of a tensor: the quantization error of earlier exchanges or pushes, and the error
/// of the one under way, which counts only if that one succeeds. Initially zeros. One thread at a
/// time.
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

  /// Returns the memory to which the current exchange or push writes its new residual.
  public MemorySegment next() {
    return next;
  }

  /// Replaces the residual by the new one, after the exchange or push has succeeded.
  public void commit() {
    MemorySegment before = kept;
    kept = next;
    next = before;
  }
}
