// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The warm-up of a kernel, by calls on a small block until the JIT has compiled it. An uncompiled
/// vector kernel boxes every vector and is about 1,000 times slower. The required number of calls
/// depends on the load of the compiler threads. A kernel therefore counts as compiled after many
/// consecutive fast calls.
final class KernelWarmUp {

  /// The block size in bytes: large enough to tell slow from fast, small enough to be quick when
  /// cold.
  private static final int BLOCK_BYTES = 4096;

  /// The number of elements beyond the block, which warm up the scalar end of a run.
  private static final int TAIL = 3;

  private static final int FAST_CALLS_IN_A_ROW = 64;

  /// The limit of a fast call. A compiled vector kernel needs less; one compiled by C1 alone needs
  /// more.
  private static final long FAST_NANOS = 2_000;

  /// Enough calls for the JIT to compile an inherently slow kernel, such as a division.
  private static final int MOST_CALLS = 20_000;

  private static final long DEADLINE_NANOS = 1_500_000_000;

  private KernelWarmUp() {}

  /// Compiles one reducer. Gives up silently after 1.5 s or `MOST_CALLS` calls; the kernel is then
  /// correct, but slow until the JIT has compiled it.
  static void run(ReduceKernel reducer, DType dtype) {
    int elements = BLOCK_BYTES / dtype.bytes() + TAIL;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment into = arena.allocate(BLOCK_BYTES + 64, 64);
      MemorySegment from = arena.allocate(BLOCK_BYTES + 64, 64);
      untilFast(() -> reducer.reduce(into, 0, from, 0, elements));
    }
  }

  /// Compiles one divider, within the same limits.
  static void run(Divider divider, DType dtype) {
    int elements = BLOCK_BYTES / dtype.bytes() + TAIL;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment data = arena.allocate(BLOCK_BYTES + 64, 64);
      untilFast(() -> divider.divide(data, 0, elements, 3));
    }
  }

  private static void untilFast(Runnable kernel) {
    long start = System.nanoTime();
    int calls = 0;
    int fastInARow = 0;
    long before = start;
    while (fastInARow < FAST_CALLS_IN_A_ROW
        && calls < MOST_CALLS
        && before - start < DEADLINE_NANOS) {
      kernel.run();
      long after = System.nanoTime();
      fastInARow = after - before <= FAST_NANOS ? fastInARow + 1 : 0;
      before = after;
      calls++;
    }
  }
}
