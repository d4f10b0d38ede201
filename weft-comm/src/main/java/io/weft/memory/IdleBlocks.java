// SPDX-License-Identifier: Apache-2.0
package io.weft.memory;

import io.weft.transport.MemoryRegion;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A bounded set of large idle blocks, by size class. The block returned last is reused first,
/// because its pages are warm; the longest idle one is freed first. Guarded by its pool.
final class IdleBlocks implements AutoCloseable {

  private static final long PAGE = TensorPool.ALIGNMENT;

  private final long keepBytes;
  private final List<MemoryRegion> blocks = new ArrayList<>();
  private long bytes;

  IdleBlocks(long keepBytes) {
    this.keepBytes = keepBytes;
  }

  /// Returns the size of the block for this number of bytes: whole pages, at most an eighth more.
  static long size(long bytes) {
    long step = Math.max(PAGE, Long.highestOneBit(bytes) >>> 3);
    return (bytes + step - 1) / step * step;
  }

  /// Removes and returns a block of this size class, or null.
  @Nullable MemoryRegion take(long size) {
    for (int i = blocks.size() - 1; i >= 0; i--) {
      if (blocks.get(i).segment().byteSize() == size) {
        bytes -= size;
        return blocks.remove(i);
      }
    }
    return null;
  }

  void give(MemoryRegion block) {
    blocks.addLast(block);
    bytes += block.segment().byteSize();
    keepAtMost(keepBytes);
  }

  private void keepAtMost(long limit) {
    while (bytes > limit) {
      MemoryRegion oldest = blocks.removeFirst();
      bytes -= oldest.segment().byteSize();
      oldest.close();
    }
  }

  @Override
  public void close() {
    keepAtMost(0);
  }
}
