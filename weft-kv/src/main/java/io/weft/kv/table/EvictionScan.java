// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

/// The position of a traversal of a table, which is done in parts so that requests are served
/// between them.
///
/// @param next the start of the next part, or -1 at the end
/// @param rows evicted in this part
public record EvictionScan(long next, int rows) {

  /// The start of the first part.
  public static final long START = 0;

  /// Returns whether no part is left.
  public boolean isDone() {
    return next < 0;
  }
}
