// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.kv.frame.KvHead;
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

/// The registered tables of a shard, and the content that they receive from a checkpoint or from
/// the primary. Confined to the shard's thread.
final class ShardTables {

  /// The length of the head of `LOAD` and `COPY`: the offset in a part, and the table's step.
  static final int LOAD_HEAD_BYTES = 16;

  private final ShardContext context;
  private final Map<Long, ShardTable> tables = new HashMap<>();

  /// The workers that have left.
  private final Set<Integer> left = new TreeSet<>();

  ShardTables(ShardContext context) {
    this.context = context;
  }

  Collection<ShardTable> all() {
    return tables.values();
  }

  /// Closes all tables and frees their memory.
  void clear() {
    tables.values().forEach(table -> table.storage().close());
    tables.clear();
  }

  /// Excludes a worker from all current and future tables.
  void leave(int worker) {
    left.add(worker);
    tables.values().forEach(table -> table.leave(worker));
  }

  boolean hasLeft(int worker) {
    return left.contains(worker);
  }

  @Nullable ShardTable find(long id) {
    return tables.get(id);
  }

  /// Returns a table that has not ended.
  ShardTable of(KvHead head) throws Refusal {
    ShardTable table = known(head);
    table.checkNotEnded();
    return table;
  }

  /// Returns a table, whether it has ended or not.
  ShardTable known(KvHead head) throws Refusal {
    ShardTable table = tables.get(head.table());
    if (table == null) {
      throw new Refusal(
          "unknown table %016x; register it first, on every worker".formatted(head.table()));
    }
    return table;
  }

  /// Creates a table, or compares the specification with that of the existing one. Returns the
  /// number of clocks that it has applied.
  long register(Pending it) throws Refusal {
    MemorySegment text = it.payload();
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
        context.states().events().add(spec);
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
    for (PushRounds<KeptPush> rounds : table.allRounds()) {
      clock = Math.max(clock, rounds.applied());
    }
    return clock;
  }

  static void checkPayload(Pending it, long least) throws Refusal {
    long bytes = it.payload().byteSize();
    if (bytes < least) {
      throw new Refusal("a payload of %d bytes, expected at least %d".formatted(bytes, least));
    }
  }

  /// Loads a part of a checkpoint, before the first push.
  void load(Pending it) throws Refusal {
    KvHead head = it.head();
    ShardTable table = of(head);
    if (table.isChanged()) {
      throw new Refusal(
          "its rows have changed already; a checkpoint is restored before the first push");
    }
    takeContent(it, table);
    table.restored(head.part(), head.clock());
    table.step(it.payload().get(JAVA_LONG_UNALIGNED, 8));
    table.allUsed();
    for (PushRounds<KeptPush> rounds : table.allRounds()) {
      rounds.begin(Math.max(rounds.applied(), head.clock()));
    }
  }

  /// Loads copied rows or elements, unless the table has ended.
  void takeCopy(Pending it) throws Refusal {
    ShardTable table = known(it.head());
    if (!table.hasEnded()) {
      takeContent(it, table);
    }
  }

  private static void takeContent(Pending it, ShardTable table) throws Refusal {
    checkPayload(it, LOAD_HEAD_BYTES);
    MemorySegment payload = it.payload();
    long at = payload.get(JAVA_LONG_UNALIGNED, 0);
    try {
      table.storage().load(it.head().part(), at, payload.asSlice(LOAD_HEAD_BYTES));
    } catch (IllegalArgumentException | IndexOutOfBoundsException wrong) {
      throw new Refusal(String.valueOf(wrong.getMessage()));
    }
  }

  /// Takes over clock and step of rows or of a part.
  void takeState(Pending it) throws Refusal {
    checkPayload(it, ShardCopy.STATE_BYTES);
    MemorySegment payload = it.payload();
    of(it.head())
        .take(
            it.head().part(),
            it.head().clock(),
            payload.get(JAVA_LONG_UNALIGNED, 0),
            payload.get(JAVA_LONG_UNALIGNED, 8) != 0);
  }
}
