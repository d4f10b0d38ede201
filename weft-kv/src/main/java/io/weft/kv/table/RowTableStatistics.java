// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

/// What a table holds and has done since it was made.
///
/// @param rows it has
/// @param bytes it has taken of its budget
/// @param load how full its index is, 0 to 1
/// @param lookups keys searched for
/// @param made rows
/// @param declined times a key got no row because it was asked for too seldom
/// @param evicted rows
/// @param spilled rows of it that are not in memory
/// @param returned times a row came back to memory
/// @param diskBytes that rows take on the disk, about
public record RowTableStatistics(
    long rows,
    long bytes,
    double load,
    long lookups,
    long made,
    long declined,
    long evicted,
    long spilled,
    long returned,
    long diskBytes) {

  /// Bytes taken for each row in memory; NaN without one.
  public double bytesPerRow() {
    return rows == spilled ? Double.NaN : (double) bytes / (rows - spilled);
  }
}
