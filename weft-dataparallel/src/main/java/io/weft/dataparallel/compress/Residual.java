// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// What exchanges have left out of a tensor so far, and what the one under way leaves out: that
/// counts only if the exchange succeeds. Zeros at first. One thread at a time.
final class Residual {

  private MemorySegment kept;
  private MemorySegment next;

  /// Of so many FLOAT32.
  Residual(long elements) {
    Arena arena = Arena.ofAuto();
    kept = arena.allocate(Math.max(1, elements) * Float.BYTES, 64);
    next = arena.allocate(Math.max(1, elements) * Float.BYTES, 64);
  }

  /// What was left out before.
  MemorySegment kept() {
    return kept;
  }

  /// Where the exchange under way writes what it leaves out.
  MemorySegment next() {
    return next;
  }

  /// The exchange has succeeded.
  void commit() {
    MemorySegment before = kept;
    kept = next;
    next = before;
  }
}
