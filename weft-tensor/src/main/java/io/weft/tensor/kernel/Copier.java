// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import java.lang.foreign.MemorySegment;

/// Copies memory in a way of its own. Bounds are checked once per call. Stateless; any thread.
@FunctionalInterface
public interface Copier {

  /// Copies `bytes` bytes; the two runs are apart. Whoever is told of it afterwards sees them all.
  ///
  /// Hot path.
  void copy(MemorySegment from, long fromAt, MemorySegment to, long toAt, long bytes);
}
