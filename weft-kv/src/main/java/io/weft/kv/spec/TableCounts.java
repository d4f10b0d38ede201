// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spec;

/// A worker's counters of a table.
///
/// @param pushes calls that push
/// @param pulls calls that pull
/// @param staleness the maximum number of clocks by which the slowest worker was behind this one
///   when a shard answered a pull, as measured by the shards; 0 for a synchronous table
public record TableCounts(long pushes, long pulls, long staleness) {

  /// Zero counters.
  public static final TableCounts NONE = new TableCounts(0, 0, 0);

  /// Returns the combined counters of two tables.
  public TableCounts plus(TableCounts other) {
    return new TableCounts(
        pushes + other.pushes, pulls + other.pulls, Math.max(staleness, other.staleness));
  }
}
