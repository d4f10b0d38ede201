// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

/// What a lookup does with a key that has no row.
public enum Missing {
  /// Makes the row, if admission allows.
  MAKE,
  /// Leaves it: what is read is what the row would begin with.
  LEAVE
}
