// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.transport;

import io.weft.transport.MemoryRegion;
import io.weft.transport.RemoteRegion;
import io.weft.transport.RemoteSlice;
import java.lang.foreign.MemorySegment;

/// Functions for slices and contents.
final class Transfers {

  private Transfers() {}

  /// Returns a peer's whole region.
  static RemoteSlice whole(MemoryRegion region) {
    RemoteRegion remote = region.export();
    return new RemoteSlice(remote, 0, remote.bytes());
  }

  /// Returns a part of a peer's region.
  static RemoteSlice part(MemoryRegion region, long offset, long bytes) {
    return new RemoteSlice(region.export(), offset, bytes);
  }

  /// Returns the first position at which two parts differ, -1 if they are equal.
  static long mismatch(
      MemoryRegion one, long oneOffset, MemoryRegion other, long otherOffset, long bytes) {
    return MemorySegment.mismatch(
        one.segment(),
        oneOffset,
        oneOffset + bytes,
        other.segment(),
        otherOffset,
        otherOffset + bytes);
  }
}
