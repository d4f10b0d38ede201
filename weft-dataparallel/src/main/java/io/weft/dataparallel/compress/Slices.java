// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.compress;

import io.weft.tensor.quantize.Quantizer;

/// The division of a tensor into one slice per rank, at bounds of blocks. Pure.
///
/// @param elements elements of the tensor
/// @param ranks number of ranks, each of which adds up one slice; the last slices may be empty
record Slices(long elements, int ranks) {

  /// Returns the first element of a rank's slice.
  long first(int rank) {
    long blocks = Math.ceilDiv(elements, Quantizer.BLOCK);
    long each = blocks / ranks;
    long block = each * rank + Math.min(rank, blocks % ranks);
    return Math.min(elements, block * Quantizer.BLOCK);
  }

  /// Returns the number of elements of a rank's slice.
  long count(int rank) {
    return first(rank + 1) - first(rank);
  }
}
