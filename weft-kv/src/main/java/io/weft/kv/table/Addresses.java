// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// Where loops find the native memory of a table: all of it in one segment, by its address, which
/// is a constant to the JIT, so that it compiles no check of a segment's class and owner into them
/// (docs/adr/0063-kernels-on-addresses.md). Where this Java was not allowed native access, in the
/// segment itself. Whoever uses it has checked bounds and thread, and owns the memory.
final class Addresses {

  private static final @Nullable MemorySegment ALL = all();

  private Addresses() {}

  @SuppressWarnings("restricted")
  private static @Nullable MemorySegment all() {
    return Addresses.class.getModule().isNativeAccessEnabled()
        ? MemorySegment.NULL.reinterpret(Long.MAX_VALUE)
        : null;
  }

  /// The segment in which the bytes of `data` are found.
  ///
  /// Hot path.
  static MemorySegment in(MemorySegment data) {
    MemorySegment all = ALL;
    return all == null ? data : all;
  }

  /// Where the first byte of `data` is in `in(data)`.
  static long at(MemorySegment data) {
    return ALL == null ? 0 : data.address();
  }
}
