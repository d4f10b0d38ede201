// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.kv.frame.KvHead;
import io.weft.kv.server.ShardTable.KeptPush;
import io.weft.kv.spec.TableSpec;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/// The tables of a shard, from their registration on, and what is put into them from elsewhere: a
/// checkpoint, or the server that this one mirrors. Confined to the shard's thread.
final class ShardTables {

  /// Before the content of `LOAD` and `COPY`: where it belongs in a part, and the table's step.
  static final int LOAD_HEAD_BYTES = 16;

  private final ShardContext context;
  private final Map<Long, ShardTable> tables = new HashMap<>();

  /// Workers for which nobody waits any more.
  private final Set<Integer> left = new TreeSet<>();

  ShardTables(ShardContext context) {
    this.context = context;
  }

  Collection<ShardTable> all() {
    return tables.values();
  }

  /// Ends all of them and frees their memory.
  void clear() {
    tables.values().forEach(ShardTable::close);
    tables.clear();
  }

  /// Tables that there are, and those that come, do not wait for this worker.
  void leave(int worker) {
    left.add(worker);
    tables.values().forEach(table -> table.leave(worker));
  }

  /// Whether nobody waits for this worker any more.
  boolean hasLeft(int worker) {
    return left.contains(worker);
  }

  @Nullable ShardTable find(long id) {
    return tables.get(id);
  }

  /// A table that has not ended.
  ShardTable of(KvHead head) throws Refusal {
    ShardTable table = known(head);
    table.checkNotEnded();
    return table;
  }

  /// A table, whether it has ended or not.
  ShardTable known(KvHead head) throws Refusal {
    ShardTable table = tables.get(head.table());
    if (table == null) {
      throw new Refusal(
          "there is no table %016x; register it first, on every worker".formatted(head.table()));
    }
    return table;
  }

  /// Makes a table, or compares it with what there is; the clocks that it has applied.
  long register(Pending it) throws Refusal {
    MemorySegment text = it.request().payload();
    if (text.byteSize() > TableSpec.MAX_TEXT_BYTES) {
      throw new Refusal("a specification of " + text.byteSize() + " bytes");
    }
    try {
      var spec = TableSpec.parse(new String(text.toArray(JAVA_BYTE), StandardCharsets.UTF_8));
      if (spec.id() != it.head().table()) {
        throw new IllegalArgumentException("the name of another table");
      }
      ShardTable known = tables.get(spec.id());
      if (known == null) {
        ShardTable made = make(spec);
        left.forEach(made::leave);
        tables.put(spec.id(), made);
        return 0;
      }
      List<String> differences = known.spec().differences(spec);
      if (!differences.isEmpty()) {
        throw new IllegalArgumentException(
            "registered before with another specification; all workers register the same; "
                + String.join("; ", differences));
      }
      known.checkNotEnded();
      return clock(known);
    } catch (IllegalArgumentException wrong) {
      throw new Refusal(String.valueOf(wrong.getMessage()));
    }
  }

  private ShardTable make(TableSpec spec) throws Refusal {
    return switch (spec.kind()) {
      case ROWS -> new RowsTable(spec, context);
      case TENSOR -> new PartsTable(spec, context);
      case VALUES -> new ValuesTable(spec, context);
    };
  }

  private static long clock(ShardTable table) {
    long clock = 0;
    for (Rounds<KeptPush> rounds : table.allRounds()) {
      clock = Math.max(clock, rounds.applied());
    }
    return clock;
  }

  static void checkPayload(Pending it, long least) throws Refusal {
    long bytes = it.request().payload().byteSize();
    if (bytes < least) {
      throw new Refusal("a payload of %d bytes, expected at least %d".formatted(bytes, least));
    }
  }

  /// Takes a part of a checkpoint, before the first push.
  void load(Pending it) throws Refusal {
    KvHead head = it.head();
    ShardTable table = of(head);
    if (table.isChanged()) {
      throw new Refusal("there were pushes already; a checkpoint is restored before the first");
    }
    takeContent(it, table);
    table.restored(head.part());
    table.step(it.request().payload().get(JAVA_LONG_UNALIGNED, 8));
    table.allUsed();
    for (Rounds<KeptPush> rounds : table.allRounds()) {
      rounds.begin(Math.max(rounds.applied(), head.clock()));
    }
  }

  /// Takes rows or elements, which are of no use to a table that has ended.
  void takeCopy(Pending it) throws Refusal {
    ShardTable table = known(it.head());
    if (!table.hasEnded()) {
      takeContent(it, table);
    }
  }

  private static void takeContent(Pending it, ShardTable table) throws Refusal {
    checkPayload(it, LOAD_HEAD_BYTES);
    MemorySegment payload = it.request().payload();
    table.load(
        it.head().part(), payload.get(JAVA_LONG_UNALIGNED, 0), payload.asSlice(LOAD_HEAD_BYTES));
  }

  /// Takes clock and step of rows or of a part.
  void takeState(Pending it) throws Refusal {
    checkPayload(it, ShardCopy.STATE_BYTES);
    MemorySegment payload = it.request().payload();
    of(it.head())
        .take(
            it.head().part(),
            it.head().clock(),
            payload.get(JAVA_LONG_UNALIGNED, 0),
            payload.get(JAVA_LONG_UNALIGNED, 8) != 0);
  }
}
