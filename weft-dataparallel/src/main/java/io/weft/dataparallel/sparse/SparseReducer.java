// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.sparse;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.collective.Communicator;
import io.weft.comm.Handle;
import io.weft.dataparallel.worker.Worker;
import io.weft.tensor.ReduceOp;
import java.lang.foreign.MemorySegment;

/// A reducer of sparse gradients over the ranks of a communicator. Each rank adds its rows of equal
/// ids in their order. The ids and rows of all ranks are then gathered, and rows of equal ids are
/// added in rank order. If the ranks together have so many rows that a whole table is shorter, each
/// rank fills a table and the tables are reduced. Thread-safe.
///
/// The ranks first exchange their numbers of rows, so that all take the same decision.
public final class SparseReducer {

  private final Communicator communicator;
  private final double denseAbove;
  private final Worker worker;

  /// Creates a reducer over a borrowed communicator.
  ///
  /// @param denseAbove fraction of a table's rows, at least 0, equal on all ranks. If the rows of
  ///   all ranks together exceed it, the whole table is reduced. Near 0.5 both ways send about
  ///   equal numbers of bytes
  public SparseReducer(Communicator communicator, double denseAbove) {
    if (!(denseAbove >= 0)) {
      throw new IllegalArgumentException(
          "the density above which a gradient is reduced whole is from 0, got " + denseAbove);
    }
    this.communicator = communicator;
    this.denseAbove = denseAbove + 0.0; // no -0
    this.worker = new Worker("weft-sparse-" + communicator.rank());
  }

  /// Computes the sum or mean over all ranks of the rows of each id; a rank without a row
  /// contributes zeros. All ranks must reduce the same names, in any order; a rank may have no
  /// rows. `gradient` is read before this returns. The receiver must close the result.
  ///
  /// Throws `IllegalArgumentException` for another operation or a table without rows. The handle
  /// fails on all ranks with `Broken`, which names the id, for an id outside the table, and with
  /// `Mismatch` if ranks disagree on table, operation or density. The communicator remains usable.
  ///
  /// @param tableRows rows of the table; ids must be lower
  /// @param op SUM or AVERAGE
  public Handle<ReducedSlices> reduce(
      String name, SparseGradient gradient, long tableRows, ReduceOp op) {
    if (op != ReduceOp.SUM && op != ReduceOp.AVERAGE) {
      throw new IllegalArgumentException(
          "sparse gradient '" + name + "' is combined by SUM or AVERAGE, not " + op);
    }
    if (tableRows < 1) {
      throw new IllegalArgumentException(
          "sparse gradient '" + name + "' is of a table of " + tableRows + " rows");
    }
    int count = gradient.count();
    long[] ids = new long[count];
    MemorySegment.copy(gradient.ids().data(), JAVA_LONG_UNALIGNED, 0, ids, 0, count);
    int bad = firstOutside(ids, tableRows);
    RowSums sums = RowSums.of(bad < 0 ? ids : new long[0]);
    var counts =
        new SliceCounts(
            sums.count(),
            tableRows,
            gradient.width(),
            op == ReduceOp.AVERAGE ? 1 : 0,
            bad,
            bad < 0 ? 0 : ids[bad],
            denseAbove);
    var own = new SparseExchange.Contribution(name, gradient, sums, counts, op);
    return new SparseExchange(communicator, worker, own).start();
  }

  private static int firstOutside(long[] ids, long tableRows) {
    for (int i = 0; i < ids.length; i++) {
      if (ids[i] < 0 || ids[i] >= tableRows) {
        return i;
      }
    }
    return -1;
  }
}
