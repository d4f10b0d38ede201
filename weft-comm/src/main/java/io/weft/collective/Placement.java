// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

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
record Placement(
    MemorySegment source,
    long[] sourceOffset,
    MemorySegment target,
    long[] targetOffset,
    long[] bytes,
    boolean uniform) {

  /// Equal parts of one tensor, cut on element borders, the first ones one element longer.
  static Placement even(MemorySegment source, MemorySegment target, int chunks, int elementBytes) {
    long elements = source.byteSize() / elementBytes;
    long[] offset = new long[chunks];
    long[] bytes = new long[chunks];
    long at = 0;
    for (int c = 0; c < chunks; c++) {
      offset[c] = at;
      bytes[c] = (elements / chunks + (c < elements % chunks ? 1 : 0)) * elementBytes;
      at += bytes[c];
    }
    return new Placement(source, offset, target, offset, bytes, true);
  }

  /// One chunk for each member's slice of the input, at the same place in `target`, empty where the
  /// slice is combined already.
  static Placement slices(SharedStage shared, MemorySegment target) {
    int size = shared.size();
    long[] offset = new long[size];
    long[] bytes = new long[size];
    for (int m = 0; m < size; m++) {
      offset[m] = shared.slice(m);
      bytes[m] = shared.undone().get(m) ? shared.slice(m + 1) - offset[m] : 0;
    }
    return new Placement(shared.input(), offset, target, offset, bytes, true);
  }

  /// Whether contribution and result are the same memory.
  boolean inPlace() {
    return source.address() == target.address() && sourceOffset == targetOffset;
  }

  long totalBytes() {
    long total = 0;
    for (long b : bytes) {
      total += b;
    }
    return total;
  }

  long largestChunk() {
    long largest = 0;
    for (long b : bytes) {
      largest = Math.max(largest, b);
    }
    return largest;
  }
}
