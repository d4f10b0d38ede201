// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.exchange;

import java.lang.foreign.MemorySegment;

/// Where the chunks of a collective lie: what is sent comes from `source` until the chunk has been
/// received here, and lies in `target` from then on. Offsets and lengths are in bytes. Borrowed
/// memory.
///
/// @param source this rank's contribution
/// @param sourceOffset of each chunk
/// @param target the result
/// @param targetOffset of each chunk, -1 where this rank never holds it
/// @param bytes of each chunk
/// @param uniform whether a peer's target offsets equal ours; else each peer sends us one chunk
///   only
public record BufferLayout(
    MemorySegment source,
    long[] sourceOffset,
    MemorySegment target,
    long[] targetOffset,
    long[] bytes,
    boolean uniform) {

  /// Equal parts of one tensor, cut on element borders, the first ones one element longer.
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

  /// Whether contribution and result are the same memory.
  public boolean inPlace() {
    return source.address() == target.address() && sourceOffset == targetOffset;
  }
}
