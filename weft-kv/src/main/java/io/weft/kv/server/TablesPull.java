// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvOp;
import io.weft.kv.frame.TableKeys;
import io.weft.kv.server.ShardTable.Subject;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A pull of rows of several tables from one shard. Its answer is, for each table, the clock to
/// report (8 bytes), and then the rows of all tables. Confined to the shard's thread.
///
/// @param parts in the order of the request
record TablesPull(List<Part> parts) {

  /// The rows of one table.
  ///
  /// @param clock of the worker
  private record Part(ShardTable table, Subject subject, long clock) {}

  /// Reads a request. Throws `Refusal` with the reason if it is invalid or a table has ended.
  static TablesPull read(Pending it, ShardTables tables) throws Refusal {
    List<TableKeys> all;
    try {
      all = TableKeys.read(it.payload());
    } catch (IllegalArgumentException wrong) {
      throw new Refusal(String.valueOf(wrong.getMessage()));
    }
    List<Part> parts = new ArrayList<>(all.size());
    for (TableKeys each : all) {
      int count = (int) (each.keys().byteSize() / Long.BYTES);
      var head =
          new KvHead(
              KvOp.PULL,
              new KvHead.Target(it.head().shard(), each.table()),
              new KvHead.Progress(0, 0, each.clock()),
              new KvHead.Listed(KvHead.Keys.INLINE, count, 0, 0));
      if (!(tables.of(head) instanceof RowsTable table)) {
        throw new Refusal("one of its tables has no rows");
      }
      table.hear(it.worker(), each.clock());
      parts.add(new Part(table, table.rowsOf(head, each.keys()), each.clock()));
    }
    return new TablesPull(parts);
  }

  /// Returns the first table whose rows cannot be answered yet, or null.
  @Nullable ShardTable awaited() {
    for (Part each : parts) {
      if (!each.table().lets(each.subject(), each.clock())) {
        return each.table();
      }
    }
    return null;
  }

  /// Returns the bytes of the answer.
  long bytes() {
    long bytes = (long) Long.BYTES * parts.size();
    for (Part each : parts) {
      bytes += each.subject().valueBytes();
    }
    return bytes;
  }

  /// Writes the answer.
  void write(MemorySegment into) throws Refusal {
    long at = (long) Long.BYTES * parts.size();
    for (int i = 0; i < parts.size(); i++) {
      Part each = parts.get(i);
      long told = each.table().clockToTell(each.subject(), each.clock());
      into.set(JAVA_LONG_UNALIGNED, (long) Long.BYTES * i, told);
      long bytes = each.subject().valueBytes();
      each.table().read(each.subject(), into.asSlice(at, bytes));
      at += bytes;
    }
  }
}
