// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.sparse;

import io.weft.tensor.TensorLease;
import java.util.Objects;

/// The combined sparse gradients of all ranks, with the same bits on all ranks. Owned by the
/// receiver.
public sealed interface ReducedSlices extends AutoCloseable {

  /// The result as rows.
  ///
  /// @param ids `INT64[m]`, ascending, each once
  /// @param rows `FLOAT32[m, ...]`
  record Sparse(TensorLease ids, TensorLease rows) implements ReducedSlices {
    /// Throws `NullPointerException` if an argument is null.
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

  /// The result as a whole table, when the rows would be longer than the table.
  ///
  /// @param table `FLOAT32[rows of the table, ...]`; zeros in rows that no rank had
  record Dense(TensorLease table) implements ReducedSlices {
    /// Throws `NullPointerException` if the table is null.
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
