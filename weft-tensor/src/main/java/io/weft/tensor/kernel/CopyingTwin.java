// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;
import java.lang.foreign.MemorySegment;

/// Combines a block and copies it, for every kernel that does not store twice by itself.
record CopyingTwin(Reducer reducer, DType dtype) implements TwinReducer {

  private static final int BLOCK_BYTES = 16 << 10;

  @Override
  public void combine(
      MemorySegment into,
      long at,
      MemorySegment also,
      long alsoAt,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(dtype, into, at, left, p, right, q, elements);
    Runs.bytes(dtype, also, alsoAt, elements);
    for (long i = 0; i < bytes; i += BLOCK_BYTES) {
      long block = Math.min(BLOCK_BYTES, bytes - i);
      reducer.combine(into, at + i, left, p + i, right, q + i, block / dtype.bytes());
      MemorySegment.copy(into, at + i, also, alsoAt + i, block);
    }
  }
}
