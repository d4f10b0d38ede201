// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.sparse;

import io.weft.tensor.DType;
import io.weft.tensor.TensorView;

/// The gradient of some rows of a table. A row may occur several times; its gradient is then the
/// sum. Borrowed, as its tensors are.
///
/// @param ids ids of the rows; `INT64[k]`
/// @param rows gradients of the rows; `FLOAT32[k, ...]`
public record SparseGradient(TensorView ids, TensorView rows) {

  /// Throws `IllegalArgumentException` for tensors of other types or lengths.
  public SparseGradient {
    if (ids.dtype() != DType.INT64 || ids.shape().dims().size() != 1) {
      throw new IllegalArgumentException("ids of rows are INT64[k], got " + ids.signature());
    }
    if (rows.dtype() != DType.FLOAT32
        || rows.shape().dims().isEmpty()
        || !rows.shape().dims().getFirst().equals(ids.shape().dims().getFirst())) {
      throw new IllegalArgumentException(
          "rows of %s must be FLOAT32, one row for each id, got %s"
              .formatted(ids.signature(), rows.signature()));
    }
    if (ids.shape().elements() > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          ids.signature() + " are more rows than 2^31-1; reduce them in two parts");
    }
  }

  /// Returns the number of rows, including duplicates.
  public int count() {
    return Math.toIntExact(ids.shape().elements());
  }

  /// Returns the elements of a row.
  public long width() {
    return rows.shape().elementsPerRow();
  }
}
