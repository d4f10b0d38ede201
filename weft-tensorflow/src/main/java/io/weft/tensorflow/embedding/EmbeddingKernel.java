// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.embedding;

import io.weft.tensor.DType;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.AsyncKernel;
import java.lang.foreign.ValueLayout;
import java.util.List;

/// The kernel of an op over the rows of a table.
abstract class EmbeddingKernel extends AsyncKernel {

  private final EmbeddingRows rows;

  /// @param inputs element types of the inputs
  EmbeddingKernel(EmbeddingRows rows, List<DType> inputs) {
    super(inputs);
    this.rows = rows;
  }

  @Override
  protected final void requireSound() {
    rows.requireSound();
  }

  final EmbeddingRows rows() {
    return rows;
  }

  /// Returns the elements of an input of 64-bit integers.
  static long[] numbers(TensorView ids) {
    return ids.bytes() == 0 ? new long[0] : ids.data().toArray(ValueLayout.JAVA_LONG_UNALIGNED);
  }
}
