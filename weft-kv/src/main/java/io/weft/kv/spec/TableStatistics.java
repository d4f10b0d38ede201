// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spec;

/// What the shards have of a table, all together.
///
/// @param rows that there are; of a tensor its parts
/// @param bytes that it takes of the servers' memory, with optimizer slots and index
/// @param lookups keys searched for
/// @param made rows
/// @param declined times a key was pushed and got no row, because it was pushed too seldom
/// @param evicted rows that went
/// @param spilled rows of it that are on the disk, not in memory
/// @param returned times a row came back to memory
/// @param diskBytes that rows take on the servers' disks, about
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

  /// Nothing.
  public static final TableStatistics NONE = new TableStatistics(0, 0, 0, 0, 0, 0);

  /// Of a table that is in memory.
  public TableStatistics(
      long rows, long bytes, long lookups, long made, long declined, long evicted) {
    this(rows, bytes, lookups, made, declined, evicted, 0, 0, 0);
  }

  /// Of both.
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

  /// Bytes taken for each row in memory; NaN without one.
  public double bytesPerRow() {
    return rows == spilled ? Double.NaN : (double) bytes / (rows - spilled);
  }

  /// Itself as text.
  public String text() {
    return "%d %d %d %d %d %d %d %d %d"
        .formatted(rows, bytes, lookups, made, declined, evicted, spilled, returned, diskBytes);
  }

  /// Reads what `text` has written. Throws `IllegalArgumentException` with what is wrong.
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
