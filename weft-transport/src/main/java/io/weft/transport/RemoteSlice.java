// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

import java.util.Objects;

/// A part of a peer's memory. The constructor checks the bounds once, and the peer checks them
/// again.
public record RemoteSlice(RemoteRegion region, long offset, long bytes) {

  /// Throws `IndexOutOfBoundsException` if the slice does not lie inside the region.
  public RemoteSlice {
    Objects.checkFromIndexSize(offset, bytes, region.bytes());
  }
}
