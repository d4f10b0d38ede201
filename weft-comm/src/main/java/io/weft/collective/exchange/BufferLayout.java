// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

import java.lang.foreign.MemorySegment;

/// The location of a collective's chunks. A chunk is sent from `source` until it has been received
/// on this rank, and from `target` afterwards. Offsets and lengths are in bytes. The memory is
/// borrowed.
///
/// @param source this rank's contribution
/// @param sourceOffset offset of each chunk
/// @param target the result
/// @param targetOffset offset of each chunk, -1 for a chunk that this rank never stores
/// @param bytes length of each chunk
/// @param uniform true if a peer's target offsets equal this rank's. Otherwise each peer sends this
///   rank only one chunk
public record BufferLayout(
    MemorySegment source,
    long[] sourceOffset,
    MemorySegment target,
    long[] targetOffset,
    long[] bytes,
    boolean uniform) {

  /// Creates a layout of equal parts of one tensor, cut on element boundaries. The first parts are
  /// one element longer.
  public static BufferLayout even(
      MemorySegment source, MemorySegment target, int chunks, int elementBytes) {
    long elements = source.byteSize() / elementBytes;
    long[] offset = new long[chunks];
    long[] bytes = new long[chunks];
    long at = 0;
    for (int c = 0; c < chunks; c++) {
      offset[c] = at;
      bytes[c] = (elements / chunks + (c < elements % chunks ? 1 : 0)) * elementBytes;
      at += bytes[c];
    }
    return new BufferLayout(source, offset, target, offset, bytes, true);
  }

  /// Returns whether contribution and result are the same memory.
  public boolean inPlace() {
    return source.address() == target.address() && sourceOffset == targetOffset;
  }
}
