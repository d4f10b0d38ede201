// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.copy;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.ffm.StreamingCopy;
import io.weft.tensor.kernel.Kernels;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/// Copies memory in a way of its own. Bounds are checked once per call. Stateless; any thread.
@FunctionalInterface
public interface TensorCopier {

  /// The one that stores past the caches: for memory whose lines others hold in their caches. Empty
  /// where this machine has none.
  static Optional<TensorCopier> streaming() {
    boolean hasAvx2 = Kernels.streamingTwin(DType.FLOAT32, ReduceOp.SUM, 1).isPresent();
    return hasAvx2 && StreamingCopy.isAllowed()
        ? Optional.of(new StreamingCopier())
        : Optional.empty();
  }

  /// Copies `bytes` bytes; the two runs are apart. Whoever is told of it afterwards sees them all.
  ///
  /// Hot path.
  void copy(MemorySegment from, long fromAt, MemorySegment to, long toAt, long bytes);
}
