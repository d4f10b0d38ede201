// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.rocksdb;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.file.ScratchDirectory;
import io.weft.kv.rule.InitialValues;
import io.weft.kv.rule.UpdateRules;
import io.weft.kv.spill.RowStores;
import io.weft.kv.table.Eviction;
import io.weft.kv.table.EvictionScan;
import io.weft.kv.table.MemoryBudget;
import io.weft.kv.table.Missing;
import io.weft.kv.table.RowList;
import io.weft.kv.table.RowTable;
import io.weft.kv.table.RowTableSpec;
import io.weft.kv.table.RowTableSpec.RowOptions;
import io.weft.kv.table.Spilling;
import io.weft.kv.table.TableSink;
import io.weft.kv.table.TableSnapshot;
import io.weft.property.Property;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/// Checks that a table with a tenth of its rows in memory equals a table with all rows there.
class SpillingTableTest {

  private static final String[] RULES = {
    "sum", "assign", "sgd", "momentum", "adagrad", "rowwise-adagrad", "adam", "ftrl"
  };
  private static final int KEYS = 3000;
  private static final int IN_MEMORY = KEYS / 10;
  private static final int MOST_IN_REQUEST = 250;

  /// The same operations on two tables.
  private static final class Run implements AutoCloseable {
    private final Random random;
    private final int width;
    private final RowTableSpec spec;
    private final MemoryBudget budget = new MemoryBudget(1L << 30);
    private final MemoryBudget plainBudget = new MemoryBudget(1L << 30);
    private final ScratchDirectory directory;
    private final RowStores stores = new RocksProvider().stores(8 << 20);
    private final RowTable plain;
    private RowTable spilling;
    private int opened;
    private long step;

    private Run(long seed, String rule, int width) throws IOException {
      random = new Random(seed);
      this.width = width;
      directory = ScratchDirectory.create(Path.of(System.getProperty("java.io.tmpdir")), "rows");
      spec =
          new RowTableSpec(
              "t",
              width,
              UpdateRules.parse(rule),
              InitialValues.parse("uniform", width),
              RowOptions.DEFAULT.withAdmission(1 + random.nextInt(2)));
      plain = new RowTable(spec, plainBudget);
      spilling = empty();
    }

    private RowTable empty() throws IOException {
      Path own = Files.createDirectory(directory.path().resolve("" + opened++));
      long memory = (long) IN_MEMORY * (spec.rowBytes() + 15);
      return RowTable.spilling(
          spec, budget, new Spilling(memory, stores.open(own, spec.rowBytes())));
    }

    /// Returns random keys, with a few frequent ones. A list may contain a key twice.
    private RowList list() {
      long[] keys = new long[1 + random.nextInt(MOST_IN_REQUEST)];
      for (int i = 0; i < keys.length; i++) {
        long key = random.nextInt(4) == 0 ? random.nextInt(100) : random.nextInt(KEYS);
        keys[i] = key % 2 == 0 ? key * 0x9e3779b97f4a7c15L : key - KEYS / 2;
      }
      if (random.nextBoolean()) {
        keys = Arrays.stream(keys).sorted().distinct().toArray();
      }
      return list(keys);
    }

    private static RowList list(long... keys) {
      var list = new RowList();
      list.set(keys, keys.length);
      return list;
    }

    private void push() {
      RowList first = list();
      RowList second = first.copy();
      step++;
      float[] gradients = new float[first.count() * width];
      for (int i = 0; i < gradients.length; i++) {
        gradients[i] = random.nextFloat() - 0.5f;
      }
      push(plain, first, gradients);
      push(spilling, second, gradients);
    }

    private void push(RowTable table, RowList list, float[] gradients) {
      table.resolve(list, Missing.CREATE, step);
      table.update(list, 0, list.count(), MemorySegment.ofArray(gradients), 0, step);
    }

    private void pull() {
      RowList first = list();
      RowList second = first.copy();
      assertThat(read(spilling, second)).isEqualTo(read(plain, first));
      for (int i = 0; i < first.count(); i++) {
        assertThat(second.hasRow(i)).isEqualTo(first.hasRow(i));
      }
      assertThat(read(spilling, second)).isEqualTo(read(plain, first));
    }

    private float[] read(RowTable table, RowList list) {
      float[] values = new float[list.count() * width];
      table.resolve(list, Missing.LEAVE, step);
      table.read(list, 0, list.count(), MemorySegment.ofArray(values), 0);
      return values;
    }

    private void evict() {
      long since = random.nextBoolean() ? 0 : Math.max(0, step - 4 - random.nextInt(20));
      var which = new Eviction(since, random.nextBoolean() ? 0 : random.nextDouble());
      assertThat(evict(spilling, which)).isEqualTo(evict(plain, which));
    }

    private static int evict(RowTable table, Eviction which) {
      int gone = 0;
      long from = EvictionScan.START;
      while (from >= 0) {
        EvictionScan sweep = table.evict(from, 70, which, key -> {});
        gone += sweep.rows();
        from = sweep.next();
      }
      return gone;
    }

    /// Doubles each row, as the change of a program does.
    private void change() {
      step++;
      change(plain);
      change(spilling);
    }

    private void change(RowTable table) {
      table.forEachRow(
          (key, last, values) -> {
            float[] twice = new float[width];
            for (int i = 0; i < width; i++) {
              twice[i] = 2 * values.getAtIndex(JAVA_FLOAT_UNALIGNED, i);
            }
            RowList one = list(key);
            table.resolve(one, Missing.CREATE, step);
            table.assign(one, 0, 1, MemorySegment.ofArray(twice), 0, step);
          });
    }

    private void remove() {
      RowList list = list();
      for (int i = 0; i < list.count(); i += 10) {
        assertThat(spilling.remove(list.key(i))).isEqualTo(plain.remove(list.key(i)));
      }
    }

    /// Compares snapshots of both tables that are taken while the tables change.
    private void snapshot() {
      long since = random.nextBoolean() ? 0 : Math.max(0, step - random.nextInt(8));
      var expected = new Rows();
      var seen = new Rows();
      try (TableSnapshot first = plain.snapshot(since, expected);
          TableSnapshot second = spilling.snapshot(since, seen)) {
        boolean all = false;
        while (!all) {
          all = second.advance(40);
          switch (random.nextInt(8)) {
            case 0 -> evict();
            case 1 -> remove();
            case 7 -> change();
            case 2, 3, 4 -> push();
            default -> pull();
          }
        }
        assertThat(first.advance(Integer.MAX_VALUE)).isTrue();
      }
      assertThat(seen.byKey).isEqualTo(expected.byKey);
    }

    /// Imports all rows twice into another table. Tables with admission are skipped, because a
    /// snapshot lacks the counts of keys without a row.
    private void move() throws IOException {
      if (spec.options().admission() > 1) {
        return;
      }
      var rows = new Rows();
      take(rows);
      RowTable other = empty();
      for (int times = 0; times < 2; times++) {
        try (Arena arena = Arena.ofConfined()) {
          int n = 1 + random.nextInt(400);
          MemorySegment some = arena.allocate((long) n * spec.rowBytes());
          int filled = 0;
          for (ByteBuffer row : rows.byKey.values()) {
            MemorySegment.copy(
                row.array(), 0, some, JAVA_BYTE, (long) filled++ * spec.rowBytes(), row.capacity());
            if (filled == n) {
              other.importRows(some, 0, n);
              filled = 0;
            }
          }
          other.importRows(some, 0, filled);
        }
      }
      spilling.close();
      spilling = other;
    }

    private void take(Rows into) {
      try (TableSnapshot all = spilling.snapshot(0, into)) {
        boolean ended = false;
        while (!ended) {
          ended = all.advance(300);
        }
      }
    }

    private void compareAll() {
      assertThat(spilling.rows()).isEqualTo(plain.rows());
      Map<Long, Object> expected = new HashMap<>();
      Map<Long, Object> seen = new HashMap<>();
      plain.forEachRow(
          (key, last, values) ->
              expected.put(key, last + ByteBuffer.wrap(bytes(values)).hashCode()));
      spilling.forEachRow(
          (key, last, values) ->
              assertThat(seen.put(key, last + ByteBuffer.wrap(bytes(values)).hashCode())).isNull());
      assertThat(seen).isEqualTo(expected);
      var its = spilling.statistics();
      assertThat(its.bytes()).isEqualTo(budget.usedBytes());
      assertThat(its.rows() - its.spilled().rows())
          .isLessThanOrEqualTo(IN_MEMORY + MOST_IN_REQUEST);
    }

    private static byte[] bytes(MemorySegment values) {
      return values.toArray(JAVA_BYTE);
    }

    @Override
    public void close() throws IOException {
      plain.close();
      spilling.close();
      assertThat(budget.usedBytes()).isZero();
      stores.close();
      directory.close();
      assertThat(directory.path()).doesNotExist();
    }
  }

  /// The rows of a snapshot. Each row must appear once.
  private static final class Rows implements TableSink {
    private final Map<Long, ByteBuffer> byKey = new HashMap<>();

    @Override
    public void row(MemorySegment memory, long at, int bytes) {
      byte[] row = new byte[bytes];
      MemorySegment.copy(memory, JAVA_BYTE, at, row, 0, bytes);
      assertThat(byKey.put(memory.get(JAVA_LONG_UNALIGNED, at), ByteBuffer.wrap(row))).isNull();
    }
  }

  @Test
  void spillingTableEqualsPlainOne() {
    Property.check(
        Boolean.getBoolean("weft.test.long") ? 25 : 8,
        draw -> spillingTableEqualsPlainOne(draw.between(0, 7), draw.between(1, 12), draw.seed()));
  }

  private void spillingTableEqualsPlainOne(int rule, int width, long seed) throws IOException {
    try (var run = new Run(seed, RULES[rule], width)) {
      for (int i = 0; i < 40; i++) {
        run.push();
      }
      assertThat(run.spilling.statistics().spilled().rows()).isPositive();
      for (int i = 0; i < 30; i++) {
        switch (run.random.nextInt(13)) {
          case 0 -> run.evict();
          case 1 -> run.remove();
          case 2 -> run.move();
          case 3, 4 -> run.snapshot();
          case 5 -> run.change();
          case 6, 7 -> run.pull();
          default -> run.push();
        }
      }
      run.compareAll();
    }
  }

  @Test
  void aKeyTwiceInAListIsFoundTwiceEvenIfItIsTheLastStoredRow() throws IOException {
    try (var run = new Run(1, "sum", 1)) {
      RowTable table = run.spilling;
      long[] keys = LongStream.rangeClosed(1, IN_MEMORY + 20).toArray();
      for (int first = 0; first < keys.length; first += IN_MEMORY / 2) {
        int end = Math.min(keys.length, first + IN_MEMORY / 2);
        RowList some = Run.list(Arrays.copyOfRange(keys, first, end));
        for (int times = 0; times < 2; times++) { // admission may require two pushes
          run.push(table, some, new float[some.count()]);
        }
      }
      for (int i = 0; table.statistics().spilled().rows() > 1; i++) {
        assertThat(table.remove(keys[i])).isTrue();
      }
      assertThat(table.statistics().spilled().rows()).isEqualTo(1);
      long[] last = {0};
      table.forEachRow((key, step, values) -> last[0] = key);
      long[] asked = new long[IN_MEMORY];
      Arrays.setAll(asked, i -> -1 - i);
      asked[0] = last[0];
      asked[IN_MEMORY - 1] = last[0];
      RowList list = Run.list(asked);
      table.resolve(list, Missing.LEAVE, 3);
      assertThat(list.hasRow(0)).isTrue();
      assertThat(list.hasRow(IN_MEMORY - 1)).isTrue();
      assertThat(list.missing()).isEqualTo(IN_MEMORY - 2);
    }
  }
}
