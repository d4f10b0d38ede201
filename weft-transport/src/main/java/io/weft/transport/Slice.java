// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

import java.util.Objects;

/// A part of registered local memory. The constructor checks the bounds once; posting a slice
/// allocates nothing.
public record Slice(MemoryRegion region, long offset, long bytes) {

  /// Throws `IndexOutOfBoundsException` if the slice does not lie inside the region.
  public Slice {
    Objects.checkFromIndexSize(offset, bytes, region.segment().byteSize());
  }
}
