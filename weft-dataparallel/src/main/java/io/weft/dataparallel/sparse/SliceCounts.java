// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.sparse;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.comm.CommException;
import io.weft.tensor.ReduceOp;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/// The counts that ranks exchange before they send rows: seven INT64. Pure.
///
/// @param unique rows, each id once
/// @param tableRows rows of the table
/// @param width elements of a row
/// @param mean 1 = the mean is requested, 0 = the sum
/// @param badPlace place of the first id outside the table, or -1
/// @param badId the id at `badPlace`
/// @param denseAbove fraction of the table's rows above which the whole table is reduced
record SliceCounts(
    long unique,
    long tableRows,
    long width,
    long mean,
    long badPlace,
    long badId,
    double denseAbove) {

  static final int FIELDS = 7;

  void write(MemorySegment into) {
    long dense = Double.doubleToLongBits(denseAbove);
    long[] fields = {unique, tableRows, width, mean, badPlace, badId, dense};
    MemorySegment.copy(fields, 0, into, JAVA_LONG_UNALIGNED, 0, FIELDS);
  }

  /// Returns the counts of all ranks, in rank order.
  static List<SliceCounts> read(MemorySegment from, int ranks) {
    List<SliceCounts> all = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      long[] f = new long[FIELDS];
      MemorySegment.copy(
          from, JAVA_LONG_UNALIGNED, (long) rank * FIELDS * Long.BYTES, f, 0, FIELDS);
      double dense = Double.longBitsToDouble(f[6]);
      all.add(new SliceCounts(f[0], f[1], f[2], f[3], f[4], f[5], dense));
    }
    return all;
  }

  /// Throws `Mismatch` if a rank has another table, density or operation than this rank, and
  /// `Broken` if a rank has an id outside the table.
  ///
  /// @param all the counts in rank order
  /// @param ranks ranks of the job, by rank of the communicator
  void requireSame(String name, List<SliceCounts> all, List<Integer> ranks) {
    for (int rank = 0; rank < all.size(); rank++) {
      SliceCounts its = all.get(rank);
      if (its.tableRows != tableRows
          || its.width != width
          || its.mean != mean
          || its.denseAbove != denseAbove) {
        throw new CommException.Mismatch(
            "sparse gradient '%s': rank %d has %s, here it has %s; give all ranks the same table,"
                    .formatted(name, ranks.get(rank), its.words(), words())
                + " operation and density");
      }
    }
    for (int rank = 0; rank < all.size(); rank++) {
      SliceCounts its = all.get(rank);
      if (its.badPlace >= 0) {
        throw new CommException.Broken(
            "rank %d: sparse gradient '%s' has the id %d at place %d; ids of this table are 0 to %d"
                .formatted(ranks.get(rank), name, its.badId, its.badPlace, tableRows - 1),
            ranks.get(rank),
            null);
      }
    }
  }

  private String words() {
    return "%d rows of %d elements, by %s, whole above %s of them"
        .formatted(tableRows, width, mean == 1 ? ReduceOp.AVERAGE : ReduceOp.SUM, denseAbove);
  }
}
