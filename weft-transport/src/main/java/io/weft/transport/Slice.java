// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

import java.util.Objects;

/// A part of own registered memory. Bounds are checked once, here; posting a slice allocates
/// nothing.
public record Slice(MemoryRegion region, long offset, long bytes) {

  /// Throws `IndexOutOfBoundsException` if it does not lie inside the region.
  public Slice {
    Objects.checkFromIndexSize(offset, bytes, region.segment().byteSize());
  }
}
