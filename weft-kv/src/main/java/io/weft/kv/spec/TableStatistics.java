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
public record TableStatistics(
    long rows, long bytes, long lookups, long made, long declined, long evicted) {

  /// Nothing.
  public static final TableStatistics NONE = new TableStatistics(0, 0, 0, 0, 0, 0);

  /// Of both.
  public TableStatistics plus(TableStatistics other) {
    return new TableStatistics(
        rows + other.rows,
        bytes + other.bytes,
        lookups + other.lookups,
        made + other.made,
        declined + other.declined,
        evicted + other.evicted);
  }

  /// Bytes taken for each row there is; NaN without rows.
  public double bytesPerRow() {
    return rows == 0 ? Double.NaN : (double) bytes / rows;
  }

  /// Itself as text.
  public String text() {
    return "%d %d %d %d %d %d".formatted(rows, bytes, lookups, made, declined, evicted);
  }

  /// Reads what `text` has written. Throws `IllegalArgumentException` with what is wrong.
  public static TableStatistics parse(String text) {
    String[] words = text.split(" ", -1);
    if (words.length != 6) {
      throw new IllegalArgumentException("statistics of " + words.length + " numbers");
    }
    return new TableStatistics(
        Long.parseLong(words[0]),
        Long.parseLong(words[1]),
        Long.parseLong(words[2]),
        Long.parseLong(words[3]),
        Long.parseLong(words[4]),
        Long.parseLong(words[5]));
  }
}
