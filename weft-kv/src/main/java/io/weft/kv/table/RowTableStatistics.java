// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

/// The statistics of a table since its creation.
///
/// @param rows the number of rows
/// @param bytes the bytes reserved from its budget
/// @param load the load factor of its index, 0 to 1
/// @param lookups the number of keys looked up
/// @param made the number of rows created
/// @param declined how often a key got no row because it was used too seldom
/// @param evicted the number of rows removed or evicted
/// @param spilled the number of rows that are not in memory
/// @param returned how often a row was loaded from the store
/// @param diskBytes the approximate bytes of rows on disk
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

  /// Returns the bytes per row in memory, or NaN without such a row.
  public double bytesPerRow() {
    return rows == spilled ? Double.NaN : (double) bytes / (rows - spilled);
  }
}
