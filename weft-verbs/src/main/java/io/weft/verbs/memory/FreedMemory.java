// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.memory;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/// The check of freed memory, which finds an access after the release: freed memory is filled with
/// a pattern, so that a late READ yields wrong contents, and the pattern must be whole when the
/// memory is allocated again or discarded, so that a late WRITE is found. Stateless and
/// thread-safe.
final class FreedMemory {

  private static final byte PATTERN = (byte) 0xDB;
  private static final MemorySegment PAGE = page();

  private FreedMemory() {}

  private static MemorySegment page() {
    MemorySegment page = MemorySegment.ofArray(new byte[PoolBlock.PAGE]);
    page.fill(PATTERN);
    return page.asReadOnly();
  }

  /// Fills freed memory.
  static void fill(MemorySegment freed) {
    freed.fill(PATTERN);
  }

  /// Checks that nobody wrote whole pages since they were filled. Throws `IllegalStateException`.
  static void check(MemorySegment freed) {
    for (long at = 0; at < freed.byteSize(); at += PoolBlock.PAGE) {
      long wrong = MemorySegment.mismatch(freed, at, at + PoolBlock.PAGE, PAGE, 0, PoolBlock.PAGE);
      if (wrong >= 0) {
        throw new IllegalStateException(
            "freed verbs memory at 0x%x was written after its release: byte %d of %d is 0x%02x, not 0x%02x"
                .formatted(
                    freed.address() + at + wrong,
                    at + wrong,
                    freed.byteSize(),
                    freed.get(ValueLayout.JAVA_BYTE, at + wrong) & 0xFF,
                    PATTERN & 0xFF));
      }
    }
  }
}
