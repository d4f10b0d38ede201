// SPDX-License-Identifier: Apache-2.0
package io.weft.transport;

import java.util.Objects;

/// A part of a peer's memory. Bounds are checked once, here, and again by the peer.
public record RemoteSlice(RemoteRegion region, long offset, long bytes) {

  /// Throws `IndexOutOfBoundsException` if it does not lie inside the region.
  public RemoteSlice {
    Objects.checkFromIndexSize(offset, bytes, region.bytes());
  }
}
