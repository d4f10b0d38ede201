// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;

/// The memory of pushes that wait for those of other workers. Blocks are reused, because the
/// collector frees native memory only when Java's heap is full, which on a server may take
/// gigabytes. A length is rounded up by at most a quarter. The number of blocks of a rounded length
/// is the largest number that was in use at the same time. The budget of the server counts the
/// values of waiting pushes, not unused blocks. Confined to the shard's thread.
final class KeptMemory {

  private static final long LEAST_BYTES = 64;
  private static final int STEPS = 4;

  private final Map<Long, Blocks> byLength = new HashMap<>();

  /// The blocks of a length.
  private static final class Blocks {
    private final ArrayDeque<MemorySegment> unused = new ArrayDeque<>();
    private int used;
    private int mostUsed;
  }

  /// Returns a block of at least this length.
  MemorySegment take(long bytes) {
    long length = rounded(bytes);
    Blocks blocks = byLength.computeIfAbsent(length, _ -> new Blocks());
    blocks.used++;
    blocks.mostUsed = Math.max(blocks.mostUsed, blocks.used);
    MemorySegment block = blocks.unused.pollLast();
    return block == null ? Arena.ofAuto().allocate(length, LEAST_BYTES) : block;
  }

  /// Takes back the block of a push that nobody applies any more.
  void giveBack(KeptPush push) {
    MemorySegment block = push.block();
    Blocks blocks = byLength.get(block.byteSize());
    if (blocks == null) {
      throw new IllegalArgumentException("a block of " + block.byteSize() + " bytes of no push");
    }
    blocks.used--;
    if (!push.isLent() && blocks.used + blocks.unused.size() < blocks.mostUsed) {
      blocks.unused.add(block);
    }
  }

  /// Returns the length of all blocks that wait for their next use.
  long unusedBytes() {
    return byLength.entrySet().stream()
        .mapToLong(each -> each.getKey() * each.getValue().unused.size())
        .sum();
  }

  /// Returns the length rounded up to a multiple of a quarter of the power of two below it.
  private static long rounded(long bytes) {
    long least = Math.max(LEAST_BYTES, bytes);
    long step = Long.highestOneBit(least) / STEPS;
    return Math.ceilDiv(least, step) * step;
  }
}
