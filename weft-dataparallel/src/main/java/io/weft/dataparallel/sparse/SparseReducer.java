// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.sparse;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.collective.Communicator;
import io.weft.comm.Handle;
import io.weft.dataparallel.worker.Worker;
import io.weft.tensor.ReduceOp;
import java.lang.foreign.MemorySegment;

/// Combines sparse gradients over the ranks of a communicator. Rows of one id are first added on
/// each rank, in the order in which they stand; then ids and rows of all ranks are gathered and
/// those of one id are added in the order of ranks. Where the ranks together have so many rows that
/// this would be longer, each rank fills a table and the tables are reduced. Thread-safe.
///
/// The ranks first tell each other how many rows they have, and so decide alike.
public final class SparseReducer {

  private final Communicator communicator;
  private final double denseAbove;
  private final Worker worker;

  /// Borrows the communicator.
  ///
  /// @param denseAbove part of a table's rows, from 0, the same on all ranks; where all ranks' rows
  ///   together are more, the whole table is reduced. 0.5 is near where it takes as many bytes
  public SparseReducer(Communicator communicator, double denseAbove) {
    if (!(denseAbove >= 0)) {
      throw new IllegalArgumentException(
          "the density above which a gradient is reduced whole is from 0, got " + denseAbove);
    }
    this.communicator = communicator;
    this.denseAbove = denseAbove + 0.0; // no -0
    this.worker = new Worker("weft-sparse-" + communicator.rank());
  }

  /// Sum or mean of all ranks' rows of each id, a rank without that row counting as zeros. All
  /// ranks reduce the same names, in any order; a rank may have no rows. `gradient` is read before
  /// this returns. The receiver closes the result.
  ///
  /// Throws `IllegalArgumentException` for another operation or a table without rows. The handle
  /// fails with `Broken` on all ranks for an id that is not of the table, which it names, and with
  /// `Mismatch` if ranks disagree on table, operation or density; the communicator works on.
  ///
  /// @param tableRows of the table; ids are below it
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
