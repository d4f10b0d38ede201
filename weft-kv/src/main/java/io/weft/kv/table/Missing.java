// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

/// The action of a lookup for a key without a row.
public enum Missing {
  /// Creates the row, if admission allows.
  CREATE,
  /// Creates the row, regardless of admission.
  ADMIT,
  /// Creates no row. The key reads as the initial values.
  LEAVE
}
