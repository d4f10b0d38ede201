// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import io.weft.tensor.quantize.Quantizer;

/// How a tensor is cut into a slice for each rank, at bounds of blocks. Pure.
///
/// @param elements of the tensor
/// @param ranks each of which adds up one slice; the last ones' slices may be empty
record Slices(long elements, int ranks) {

  /// Its first element.
  long first(int rank) {
    long blocks = Math.ceilDiv(elements, Quantizer.BLOCK);
    long each = blocks / ranks;
    long block = each * rank + Math.min(rank, blocks % ranks);
    return Math.min(elements, block * Quantizer.BLOCK);
  }

  /// Its elements.
  long count(int rank) {
    return first(rank + 1) - first(rank);
  }
}
