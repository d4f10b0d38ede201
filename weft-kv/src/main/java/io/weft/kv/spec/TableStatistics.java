// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spec;

/// The statistics of a table, summed over its shards.
///
/// @param rows the number of rows, or of a tensor's parts
/// @param bytes the memory of the table on the servers, with optimizer slots and index
/// @param lookups the number of keys looked up
/// @param made the number of rows created
/// @param declined how often a pushed key got no row, because it had been pushed too seldom
/// @param evicted the number of rows evicted
/// @param spilled the number of rows on disk instead of in memory
/// @param returned how often a row was loaded from disk
/// @param diskBytes the approximate bytes of rows on the servers' disks
public record TableStatistics(
    long rows,
    long bytes,
    long lookups,
    long made,
    long declined,
    long evicted,
    long spilled,
    long returned,
    long diskBytes) {

  /// Zero statistics.
  public static final TableStatistics NONE = new TableStatistics(0, 0, 0, 0, 0, 0);

  /// Creates the statistics of a table that is in memory.
  public TableStatistics(
      long rows, long bytes, long lookups, long made, long declined, long evicted) {
    this(rows, bytes, lookups, made, declined, evicted, 0, 0, 0);
  }

  /// Returns the sum of both statistics.
  public TableStatistics plus(TableStatistics other) {
    return new TableStatistics(
        rows + other.rows,
        bytes + other.bytes,
        lookups + other.lookups,
        made + other.made,
        declined + other.declined,
        evicted + other.evicted,
        spilled + other.spilled,
        returned + other.returned,
        diskBytes + other.diskBytes);
  }

  /// Returns the bytes per row in memory, or NaN without such a row.
  public double bytesPerRow() {
    return rows == spilled ? Double.NaN : (double) bytes / (rows - spilled);
  }

  /// Returns the text that `parse` reads.
  public String text() {
    return "%d %d %d %d %d %d %d %d %d"
        .formatted(rows, bytes, lookups, made, declined, evicted, spilled, returned, diskBytes);
  }

  /// Parses a text of `text`. Throws `IllegalArgumentException` if it is invalid.
  public static TableStatistics parse(String text) {
    String[] words = text.split(" ", -1);
    if (words.length != 9) {
      throw new IllegalArgumentException("statistics of " + words.length + " numbers");
    }
    return new TableStatistics(
        Long.parseLong(words[0]),
        Long.parseLong(words[1]),
        Long.parseLong(words[2]),
        Long.parseLong(words[3]),
        Long.parseLong(words[4]),
        Long.parseLong(words[5]),
        Long.parseLong(words[6]),
        Long.parseLong(words[7]),
        Long.parseLong(words[8]));
  }
}
