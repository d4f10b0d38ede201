// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.event;

import io.weft.kv.frame.KvOp;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/// The names of the operations on one table, such as "push embedding". Immutable.
public final class OperationNames {

  /// The names of the operations that concern no table.
  public static final OperationNames NO_TABLE = new OperationNames("");

  private final String table;
  private final Map<KvOp, String> names = new EnumMap<>(KvOp.class);

  /// @param table name of the table; empty if the operations concern none
  public OperationNames(String table) {
    this.table = table;
    for (KvOp op : KvOp.values()) {
      names.put(op, table.isEmpty() ? op.word() : op.word() + " " + table);
    }
  }

  /// Returns the name of the table.
  public String table() {
    return table;
  }

  /// Returns the name of an operation on the table.
  ///
  /// Hot path.
  public String of(KvOp op) {
    return Objects.requireNonNull(names.get(op));
  }
}
