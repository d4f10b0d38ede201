// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// Runs a kernel on a small block until the JIT has compiled it. Until then a vector kernel boxes
/// every vector and is about 1,000 times slower than it will be. How many calls that takes depends
/// on how busy the compiler threads are, so the kernel itself is timed: it counts as compiled when
/// many calls in a row are fast.
final class WarmUp {

  /// Bytes in the block: large enough to tell slow from fast, small enough to be quick when cold.
  private static final int BLOCK_BYTES = 4096;

  /// Elements beyond the block, so that the scalar end of a run is warmed as well.
  private static final int TAIL = 3;

  private static final int FAST_CALLS_IN_A_ROW = 64;

  /// A compiled vector kernel needs less for a block; one compiled by C1 alone needs more.
  private static final long FAST_NANOS = 2_000;

  /// Enough calls for the JIT to have compiled a kernel that is slow by nature, as a division is.
  private static final int MOST_CALLS = 20_000;

  private static final long DEADLINE_NANOS = 1_500_000_000;

  private WarmUp() {}

  /// Compiles one reducer. Gives up quietly after 1.5 s: the kernel is then right, and slow until
  /// the JIT catches up.
  static void run(Reducer reducer, DType dtype) {
    int elements = BLOCK_BYTES / dtype.bytes() + TAIL;
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment into = arena.allocate(BLOCK_BYTES + 64, 64);
      MemorySegment from = arena.allocate(BLOCK_BYTES + 64, 64);
      untilFast(() -> reducer.reduce(into, 0, from, 0, elements));
    }
  }

  /// Compiles one divider, within the same limit.
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
