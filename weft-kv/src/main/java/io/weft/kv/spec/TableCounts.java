// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.spec;

/// What a worker has counted.
///
/// @param pushes calls that push
/// @param pulls calls that pull
/// @param staleness most clocks by which the slowest worker was behind this one when a shard
///   answered a pull, as the shards have measured it; 0 of a synchronous table
public record TableCounts(long pushes, long pulls, long staleness) {

  /// Nothing yet.
  public static final TableCounts NONE = new TableCounts(0, 0, 0);

  /// Of both.
  public TableCounts plus(TableCounts other) {
    return new TableCounts(
        pushes + other.pushes, pulls + other.pulls, Math.max(staleness, other.staleness));
  }
}
