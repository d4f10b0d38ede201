// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/// One way to run every kernel: on vectors, on heap tiles, or element by element. All ways give the
/// same bits. Stateless; any thread.
interface KernelSet {

  /// The name of this way, for reports: "vector 512", "heap tiles" or "scalar".
  String description();

  /// The reducer of this type and operation; AVERAGE reduces like SUM.
  Reducer reducer(DType dtype, ReduceOp op);

  /// The reducer that stores its result twice.
  default Reducer.Twin twin(DType dtype, ReduceOp op) {
    return new CopyingTwin(reducer(dtype, op), dtype);
  }

  /// The reducer that stores its result twice past the caches, divided by `divisor`, where there is
  /// one: for results that no cache holds.
  default Optional<Reducer.Twin> streamingTwin(DType dtype, ReduceOp op, int divisor) {
    return Optional.empty();
  }

  /// The divider of this type.
  Divider divider(DType dtype);

  /// Combines a block and copies it, for every kernel that does not store twice by itself.
  record CopyingTwin(Reducer reducer, DType dtype) implements Reducer.Twin {

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
}
