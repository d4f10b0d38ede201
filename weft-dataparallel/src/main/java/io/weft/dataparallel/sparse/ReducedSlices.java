// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.sparse;

import io.weft.tensor.TensorLease;
import java.util.Objects;

/// What ranks' sparse gradients came to; the same bits on all ranks. Owned by the receiver.
public sealed interface ReducedSlices extends AutoCloseable {

  /// Few rows.
  ///
  /// @param ids `INT64[m]`, ascending, each once
  /// @param rows `FLOAT32[m, ...]`
  record Sparse(TensorLease ids, TensorLease rows) implements ReducedSlices {
    /// Throws `NullPointerException` where a part is missing.
    public Sparse {
      Objects.requireNonNull(ids, "ids");
      Objects.requireNonNull(rows, "rows");
    }

    @Override
    public void close() {
      ids.close();
      rows.close();
    }
  }

  /// So many rows that the whole table is shorter.
  ///
  /// @param table `FLOAT32[rows of the table, ...]`; zeros where no rank had a row
  record Dense(TensorLease table) implements ReducedSlices {
    /// Throws `NullPointerException` where a part is missing.
    public Dense {
      Objects.requireNonNull(table, "table");
    }

    @Override
    public void close() {
      table.close();
    }
  }

  @Override
  void close();
}
