// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.quantize;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// What was left out of a tensor so far, and what the exchange or push under way leaves out: that
/// counts only if it succeeds. Zeros at first. One thread at a time.
public final class Residual {

  private MemorySegment kept;
  private MemorySegment next;

  /// Of so many FLOAT32.
  public Residual(long elements) {
    Arena arena = Arena.ofAuto();
    kept = arena.allocate(Math.max(1, elements) * Float.BYTES, 64);
    next = arena.allocate(Math.max(1, elements) * Float.BYTES, 64);
  }

  /// What was left out before.
  public MemorySegment kept() {
    return kept;
  }

  /// Where the one under way writes what it leaves out.
  public MemorySegment next() {
    return next;
  }

  /// It has succeeded.
  public void commit() {
    MemorySegment before = kept;
    kept = next;
    next = before;
  }
}
