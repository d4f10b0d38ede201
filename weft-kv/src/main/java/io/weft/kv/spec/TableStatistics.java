// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spec;

import java.util.Objects;
import java.util.stream.Stream;

/// The statistics of a table, summed over its shards.
///
/// @param rows the number of rows, or of a tensor's parts
/// @param bytes the memory of the table on the servers, with optimizer slots and index
/// @param lookups the number of keys looked up
/// @param made the number of rows created
/// @param declined how often a pushed key got no row, because it had been pushed too seldom
/// @param evicted the number of rows evicted
/// @param spilled the rows on disk
public record TableStatistics(
    long rows, long bytes, long lookups, long made, long declined, long evicted, Spilled spilled) {

  /// Throws `NullPointerException` if a component is null.
  public TableStatistics {
    Objects.requireNonNull(spilled, "spilled");
  }

  /// Zero statistics.
  public static final TableStatistics NONE = new TableStatistics(0, 0, 0, 0, 0, 0, Spilled.NONE);

  /// The statistics of a table's rows on disk.
  ///
  /// @param rows the number of rows on disk instead of in memory
  /// @param returned how often a row was loaded from disk
  /// @param bytes the approximate bytes of rows on the servers' disks
  public record Spilled(long rows, long returned, long bytes) {

    /// The statistics of a table that is in memory.
    public static final Spilled NONE = new Spilled(0, 0, 0);
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
        new Spilled(
            spilled.rows + other.spilled.rows,
            spilled.returned + other.spilled.returned,
            spilled.bytes + other.spilled.bytes));
  }

  /// Returns the bytes per row in memory, or NaN without such a row.
  public double bytesPerRow() {
    return rows == spilled.rows ? Double.NaN : (double) bytes / (rows - spilled.rows);
  }

  /// Returns the text that `parse` reads.
  public String text() {
    return "%d %d %d %d %d %d %d %d %d"
        .formatted(
            rows,
            bytes,
            lookups,
            made,
            declined,
            evicted,
            spilled.rows,
            spilled.returned,
            spilled.bytes);
  }

  /// Parses a text of `text`. Throws `IllegalArgumentException` if it is invalid.
  public static TableStatistics parse(String text) {
    String[] words = text.split(" ", -1);
    if (words.length != 9) {
      throw new IllegalArgumentException("statistics of " + words.length + " numbers");
    }
    long[] numbers = Stream.of(words).mapToLong(Long::parseLong).toArray();
    return new TableStatistics(
        numbers[0],
        numbers[1],
        numbers[2],
        numbers[3],
        numbers[4],
        numbers[5],
        new Spilled(numbers[6], numbers[7], numbers[8]));
  }
}
