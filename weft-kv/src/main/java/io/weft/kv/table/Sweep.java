// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

/// How far a walk over a table has come, which is done in parts so that requests are served between
/// them.
///
/// @param next where the next part begins, or -1 at the end
/// @param rows evicted in this part
public record Sweep(long next, int rows) {

  /// Where the first part begins.
  public static final long START = 0;

  /// Whether no part is left.
  public boolean isDone() {
    return next < 0;
  }
}
