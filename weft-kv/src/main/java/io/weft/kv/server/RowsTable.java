// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.kv.frame.Finite;
import io.weft.kv.frame.KvHead;
import io.weft.kv.frame.KvHead.Values;
import io.weft.kv.frame.KvOp;
import io.weft.kv.function.ShardValues.ValuesVisitor;
import io.weft.kv.key.KeyDigest;
import io.weft.kv.rule.InitialValues;
import io.weft.kv.rule.UpdateRules;
import io.weft.kv.spec.Retention;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.spill.RowStore;
import io.weft.kv.table.Eviction;
import io.weft.kv.table.EvictionScan;
import io.weft.kv.table.Missing;
import io.weft.kv.table.RowList;
import io.weft.kv.table.RowTable;
import io.weft.kv.table.RowTableSpec;
import io.weft.kv.table.Spilling;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// One shard's rows of a table. Confined to the shard's thread.
final class RowsTable extends KeyedTable {

  private static final int EVICTED_AT_LEAST = 256;

  /// The number of times within the eviction age at which the pull of a row may be recorded.
  private static final int PARTS_OF_AGE = 4;

  private final RowTable rows;
  private final KeyLists lists;
  private final int width;
  private final int floatsOfRow;
  private final long pullsNotedEach;
  private long nextEvicted = EvictionScan.START;

  /// The step at which all rows count as used.
  private long usedAt;

  private final Halves conversion = new Halves();
  private MemorySegment floats = MemorySegment.NULL;

  /// Throws `Refusal` if rows are to be stored on disk and cannot be.
  RowsTable(TableSpec spec, ShardContext context) throws Refusal {
    super(spec, context);
    this.width = (int) spec.width();
    this.pullsNotedEach = Math.max(1, spec.retention().unusedPushes() / PARTS_OF_AGE);
    var what =
        new RowTableSpec(
            spec.name(),
            width,
            UpdateRules.parse(spec.rule()),
            InitialValues.parse(spec.initial().values(), width),
            RowTableSpec.RowOptions.DEFAULT
                .withSeed(spec.initial().seed())
                .withAdmission(spec.retention().admission()));
    this.floatsOfRow = what.floats();
    this.rows =
        spec.retention().spills()
            ? spilling(what, spec.retention().memoryBytes(), context)
            : new RowTable(what, context.memory().budget());
    this.lists = new KeyLists(context.memory().listBytes());
  }

  private static RowTable spilling(RowTableSpec what, long memoryBytes, ShardContext context)
      throws Refusal {
    RowStore store = context.disk().spills().open(what.name(), what.rowBytes());
    try {
      return RowTable.spilling(what, context.memory().budget(), new Spilling(memoryBytes, store));
    } catch (RuntimeException refused) {
      store.close();
      throw refused;
    }
  }

  /// The keys of one request.
  ///
  /// @param list ascending and distinct
  /// @param width the floats of a row in the request
  /// @param format of their rows, as pushed or pulled
  private record Keys(RowList list, int width, Values format) implements Subject {
    @Override
    public long valueBytes() {
      return format.bytes((long) width * list.count());
    }
  }

  @Override
  @Nullable Subject subject(KvHead head, MemorySegment payload) throws Refusal {
    int count = head.count();
    Values format = head.values();
    if (format.isQuantized()) {
      throw new Refusal("rows of " + format.bits() + " bits; rows have 32 or 16");
    }
    var digest = new KeyDigest(head.digestHigh(), head.digestLow());
    int floats = width(head);
    return switch (head.keys()) {
      case NONE -> new Keys(new RowList(), floats, format);
      case NAMED -> {
        RowList known = lists.find(digest);
        if (known != null && known.count() != count) {
          throw new Refusal("%d keys by the name of a list of %d".formatted(count, known.count()));
        }
        yield known == null ? null : new Keys(known, floats, format);
      }
      case INLINE, KEPT -> {
        if (payload.byteSize() < 8L * count) {
          throw new Refusal(
              "%d keys in a payload of %d bytes".formatted(count, payload.byteSize()));
        }
        var list = new RowList();
        list.set(payload, 0, count);
        checkOrder(list);
        if (head.keys() == KvHead.Keys.KEPT) {
          lists.keep(digest, list);
        }
        yield new Keys(list, floats, format);
      }
    };
  }

  /// Returns the floats of a row in a request.
  private int width(KvHead head) {
    if (head.op() == KvOp.REMOVE) {
      return 0;
    }
    return head.op() == KvOp.INSERT && head.part() > 0 ? floatsOfRow : width;
  }

  /// Reads keys that the payload contains.
  Subject rowsOf(KvHead head, MemorySegment keys) throws Refusal {
    return Objects.requireNonNull(subject(head, keys));
  }

  private static void checkOrder(RowList list) throws Refusal {
    if (list.isAscending()) {
      return;
    }
    int at = 1;
    while (list.key(at - 1) < list.key(at)) {
      at++;
    }
    throw new Refusal(
        "key %d at %d comes after %d; the keys of a shard ascend, each once"
            .formatted(list.key(at), at, list.key(at - 1)));
  }

  @Override
  MemorySegment values(KvHead head, Subject subject, MemorySegment payload) throws Refusal {
    int its = keys(subject).width();
    boolean inline = head.keys() == KvHead.Keys.INLINE || head.keys() == KvHead.Keys.KEPT;
    long keyBytes = inline ? 8L * head.count() : 0;
    long expected = keyBytes + subject.valueBytes();
    if (payload.byteSize() != expected) {
      throw new Refusal(
          "%d keys of %d floats are %d bytes of values, not %d; do all workers use the same width?"
              .formatted(head.count(), its, subject.valueBytes(), payload.byteSize() - keyBytes));
    }
    MemorySegment values = payload.asSlice(keyBytes);
    if (keys(subject).format() == Values.FLOAT16) {
      long elements = (long) its * head.count();
      MemorySegment floats = floats(elements);
      conversion.widen(values, floats, elements);
      values = floats;
    }
    if (spec().checks() == TableSpec.Checks.FINITE) {
      long at = Finite.firstOther(values);
      if (at >= 0) {
        throw new Refusal(
            "value %s of key %d, column %d, is not finite; this shard has not applied the push"
                .formatted(
                    values.getAtIndex(JAVA_FLOAT_UNALIGNED, at),
                    keys(subject).list().key((int) (at / its)),
                    at % its));
      }
    }
    return values;
  }

  /// Returns a buffer in which FLOAT16 rows are converted.
  private MemorySegment floats(long elements) {
    if (floats.byteSize() < 4 * elements) {
      context()
          .memory()
          .budget()
          .reserve("table '" + spec().name() + "'", 4 * elements - floats.byteSize());
      floats = Arena.ofAuto().allocate(4 * elements, 64);
    }
    return floats.asSlice(0, 4 * elements);
  }

  private static Keys keys(Subject subject) {
    return (Keys) subject;
  }

  @Override
  void apply(Subject subject, MemorySegment values, long clock) {
    RowList list = keys(subject).list();
    // `resolve` may throw. An update that is not applied is not counted, here or on a mirror.
    rows.resolve(list, Missing.CREATE, step() + 1);
    nextStep();
    rows.use(rule(clock));
    rows.update(list, 0, list.count(), values, 0, step());
  }

  @Override
  void checkEdit() throws Refusal {
    if (spec().consistency().isSynchronous() && hasPushes()) {
      throw new Refusal(
          "a push has arrived, and the table is synchronous: its rows are inserted and removed"
              + " before the first push of any worker");
    }
  }

  @Override
  void edit(KvHead head, Subject subject, MemorySegment values) {
    RowList list = keys(subject).list();
    if (head.op() == KvOp.INSERT) {
      if (head.part() - 1L > step()) {
        step(head.part() - 1L);
        allUsed();
      }
      rows.insert(list, values, step() + 1); // which no checkpoint has written yet
      return;
    }
    for (int i = 0; i < list.count(); i++) {
      boolean unused = rows.remove(list.key(i));
    }
  }

  /// Visits more places than a push of `keys` keys can fill.
  @Override
  void sweep(int keys, LongConsumer gone) {
    Retention retention = spec().retention();
    // The recorded step of the last pull may be up to `pullsNotedEach` - 1 steps too early.
    long oldest = step() - retention.unusedPushes() - (pullsNotedEach - 1);
    EvictionScan sweep =
        rows.evict(
            nextEvicted,
            (int) Math.min(EVICTED_AT_LEAST + 2L * keys, Integer.MAX_VALUE),
            new Eviction(
                retention.unusedPushes() == 0 || oldest <= usedAt ? 0 : oldest,
                retention.normBelow(),
                step() - retention.quietPushes() + 1),
            gone);
    nextEvicted = sweep.isDone() ? EvictionScan.START : sweep.next();
  }

  @Override
  void remove(MemorySegment keys) {
    for (long at = 0; at + Long.BYTES <= keys.byteSize(); at += Long.BYTES) {
      boolean unused = rows.remove(keys.get(JAVA_LONG_UNALIGNED, at));
    }
  }

  @Override
  void allUsed() {
    usedAt = step();
  }

  @Override
  void applyAll(List<KeptPush> pushes, long clock) {
    KeptPush first = pushes.getFirst();
    RowList list = keys(first.subject()).list();
    boolean alike = pushes.stream().allMatch(it -> keys(it.subject()).list() == list);
    MemorySegment sum = alike ? first.values() : null;
    if (sum == null) {
      merge(pushes, clock);
      return;
    }
    for (KeptPush each : pushes.subList(1, pushes.size())) {
      for (long at = 0; at < sum.byteSize(); at += 4) {
        float added =
            sum.get(JAVA_FLOAT_UNALIGNED, at) + each.values().get(JAVA_FLOAT_UNALIGNED, at);
        sum.set(JAVA_FLOAT_UNALIGNED, at, added);
      }
    }
    apply(first.subject(), sum, clock);
  }

  /// Merges pushes of different keys. The values of each key are added in the order of the pushes.
  private void merge(List<KeptPush> pushes, long clock) {
    int total = pushes.stream().mapToInt(it -> keys(it.subject()).list().count()).sum();
    long[] all = new long[total];
    int filled = 0;
    for (KeptPush each : pushes) {
      RowList list = keys(each.subject()).list();
      for (int i = 0; i < list.count(); i++) {
        all[filled++] = list.key(i);
      }
    }
    Arrays.sort(all);
    int distinct = 0;
    for (int i = 0; i < total; i++) {
      if (i == 0 || all[i] != all[i - 1]) {
        all[distinct++] = all[i];
      }
    }
    float[] sum = new float[Math.multiplyExact(distinct, width)];
    boolean[] there = new boolean[distinct];
    for (KeptPush each : pushes) {
      RowList list = keys(each.subject()).list();
      int place = 0;
      for (int i = 0; i < list.count(); i++) {
        while (all[place] != list.key(i)) {
          place++;
        }
        add(each.values(), (long) i * width, sum, place * width, there[place]);
        there[place] = true;
      }
    }
    var merged = new RowList();
    merged.set(all, distinct);
    apply(new Keys(merged, width, Values.FLOAT32), MemorySegment.ofArray(sum), clock);
  }

  private void add(MemorySegment from, long at, float[] sum, int place, boolean more) {
    for (int i = 0; i < width; i++) {
      float value = from.getAtIndex(JAVA_FLOAT_UNALIGNED, at + i);
      sum[place + i] = more ? sum[place + i] + value : value;
    }
  }

  @Override
  void read(Subject subject, MemorySegment into) {
    RowList list = keys(subject).list();
    MemorySegment floats = into;
    long elements = (long) width * list.count();
    if (keys(subject).format() == Values.FLOAT16) {
      floats = floats(elements);
    }
    int most = rows.mostAtOnce();
    for (int first = 0; first < list.count(); first += most) {
      boolean whole = list.count() <= most;
      RowList part = whole ? list : list.part(first, Math.min(most, list.count() - first));
      rows.resolve(part, Missing.LEAVE, step());
      rows.read(part, 0, part.count(), floats, 4L * width * first);
      if (spec().retention().unusedPushes() > 0) {
        rows.pulled(part, step(), pullsNotedEach);
      }
    }
    if (keys(subject).format() == Values.FLOAT16) {
      conversion.narrow(floats, into, elements);
    }
  }

  @Override
  RowTable storage() {
    return rows;
  }

  @Override
  void forEach(ValuesVisitor visitor) {
    rows.forEachRow(
        (key, used, floats) -> visitor.values(key, floats.asSlice(0, 4L * width).asReadOnly()));
  }

  @Override
  void put(long at, MemorySegment values, How how) {
    if (values.byteSize() != 4L * width) {
      throw new IllegalArgumentException(
          "%d bytes for the row of key %d, which has %d floats"
              .formatted(values.byteSize(), at, width));
    }
    var one = new RowList();
    one.set(new long[] {at}, 1);
    rows.resolve(one, Missing.CREATE, step());
    MemorySegment row = values;
    if (how == How.ADD) {
      MemorySegment there = MemorySegment.ofArray(new float[width]);
      rows.read(one, 0, 1, there, 0);
      row = sum(there, values);
    }
    rows.assign(one, 0, 1, row, 0, step());
  }

  @Override
  int keyCount(Subject subject) {
    return keys(subject).list().count();
  }

  @Override
  void writeKeys(Subject subject, MemorySegment into) {
    RowList list = keys(subject).list();
    for (int i = 0; i < list.count(); i++) {
      into.set(JAVA_LONG_UNALIGNED, 8L * i, list.key(i));
    }
  }
}
