// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The segment and the offsets through which loops access a table's native memory. One segment
/// spans all memory, so that the offset of a byte is its address. The segment is a constant to the
/// JIT, which then compiles no checks of a segment's class and owner into the loops
/// (docs/adr/0063-kernels-on-addresses.md). Without native access, the data's own segment is used.
/// The caller must have checked bounds and thread, and must own the memory.
final class Addresses {

  private static final @Nullable MemorySegment ALL = all();

  private Addresses() {}

  @SuppressWarnings("restricted")
  private static @Nullable MemorySegment all() {
    return Addresses.class.getModule().isNativeAccessEnabled()
        ? MemorySegment.NULL.reinterpret(Long.MAX_VALUE)
        : null;
  }

  /// Returns the segment through which the bytes of `data` are accessed.
  ///
  /// Hot path.
  static MemorySegment in(MemorySegment data) {
    MemorySegment all = ALL;
    return all == null ? data : all;
  }

  /// Returns the offset of the first byte of `data` in `in(data)`.
  static long at(MemorySegment data) {
    return ALL == null ? 0 : data.address();
  }
}
