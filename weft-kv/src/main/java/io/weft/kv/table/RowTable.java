// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import io.weft.kv.rule.InitialValues;
import io.weft.kv.rule.UpdateRule;
import io.weft.kv.rule.UpdateRules;
import io.weft.kv.spec.TableStatistics;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/// One shard's rows of a table: FLOAT32 rows of equal width by any 64-bit key, with the slots of
/// their update rule, in native memory. Rows are created on first use. The memory of evicted rows
/// is reused. A row takes `rowBytes()` and 11 to 14 bytes in the index. With `Spilling`, rows that
/// do not fit into memory are in a store and are loaded when they are used. All methods may then
/// throw `RowStoreException`.
///
/// Confined to the thread that created it. Other threads get `WrongThreadException`. A method that
/// throws leaves the table unchanged, except for rows that it created before it ran out of memory.
public final class RowTable implements TableStorage {

  /// The number of keys whose index entries are fetched together.
  private static final int BLOCK = 32;

  /// The approximate bytes that a part of a snapshot emits.
  private static final int SLICE_BYTES = 64 << 10;

  /// The position of a sweep that has visited all rows in memory.
  private static final long OUTSIDE = 1L << 32;

  private final Thread thread = Thread.currentThread();
  private final RowTableSpec spec;
  private final String owner;
  private final MemoryBudget budget;
  private final RowMemory memory;
  private final RowIndex index;
  private final RowTiles tiles;
  private final RowTiles assigned;
  private final RowTiles.Use use = new RowTiles.Use();
  private final RowTiles.Absent absent;
  private final @Nullable AdmissionFilter admission;
  private final @Nullable RowSpill spill;
  private final long seed;
  private final float[] fresh;
  private final long[] hashes = new long[BLOCK];

  /// The sum of the prefetched entries, which keeps the JIT from eliminating the reads.
  private final long[] sink = new long[1];

  private final TableSnapshot.Open snapshots = new TableSnapshot.Open();
  private long version;
  private long lookups;
  private long made;
  private long declined;
  private long evicted;
  private boolean closed;

  /// Creates an empty table. Throws `MemoryBudgetException` if its admission counters do not fit.
  public RowTable(RowTableSpec spec, MemoryBudget budget) {
    this(spec, budget, null);
  }

  /// Creates an empty table whose rows may be in a store. The table closes the store.
  public static RowTable spilling(RowTableSpec spec, MemoryBudget budget, Spilling spilling) {
    return new RowTable(spec, budget, spilling);
  }

  private RowTable(RowTableSpec spec, MemoryBudget budget, @Nullable Spilling spilling) {
    this.spec = spec;
    this.budget = budget;
    owner = "table '" + spec.name() + "'";
    RowTableSpec.RowOptions options = spec.options();
    if (options.admission() > 1) {
      budget.reserve(owner, options.counters());
      admission = new AdmissionFilter(options.admission(), options.counters());
    } else {
      admission = null;
    }
    memory = new RowMemory(owner, budget, spec.floats());
    index = new RowIndex(owner, budget, memory);
    tiles = new RowTiles(memory, spec.rule(), spec.width());
    assigned = new RowTiles(memory, UpdateRules.parse("assign"), spec.width());
    seed = InitialValues.seed(options.seed(), spec.name());
    fresh = new float[spec.width()];
    absent = (key, into, at) -> spec.initial().fill(seed, key, into, at, spec.width());
    spill = spilling == null ? null : spill(spilling);
  }

  private RowSpill spill(Spilling spilling) {
    try {
      return new RowSpill(spilling, owner, budget, index, new SpilledPlaces());
    } catch (MemoryBudgetException full) {
      budget.release(admission == null ? 0 : admission.bytes());
      throw full;
    }
  }

  private final class SpilledPlaces implements RowSpill.Places {
    @Override
    public int place(long key, long hash) {
      return RowTable.this.place(key, hash, 0);
    }

    @Override
    public void leave(int row, long key, long hash) {
      takeOut(row, key, hash);
    }
  }

  /// Returns the specification.
  public RowTableSpec spec() {
    return spec;
  }

  /// Returns the number of rows, in memory or not.
  public long rows() {
    return memory.used() + (spill == null ? 0 : spill.spilled());
  }

  /// Returns the maximum number of rows that should be read at once, so that the table respects its
  /// memory limit.
  public int mostAtOnce() {
    return spill == null ? Integer.MAX_VALUE : spill.mostAtOnce();
  }

  @Override
  public long removed() {
    return evicted;
  }

  /// Returns the bytes of a row, in memory and as exported: 16, and its values and slots.
  public int rowBytes() {
    return memory.rowBytes();
  }

  /// Returns the version of the table. It changes when rows are removed or leave memory, which
  /// invalidates resolved lists. Additions do not move rows.
  public long version() {
    return version;
  }

  /// Finds the rows of a list's keys, and creates missing ones if `missing` says so. This is nearly
  /// free if the list has been resolved before, `version()` is unchanged, and all keys have rows
  /// or, if missing ones are left, no row has been created since. It must be called before each
  /// `read` or `update`, because rows may have been created or removed.
  ///
  /// Hot path.
  ///
  /// @param step of the use, for rows that are created
  public void resolve(RowList list, Missing missing, long step) {
    checkUse();
    boolean found = list.missing() == 0 || (missing == Missing.LEAVE && list.made() == made);
    if (found && list.isOf(this, version)) {
      if (spill != null) {
        spill.used(list.rows(), list.count());
      }
      return;
    }
    if (spill != null) {
      resolveSpilling(spill, list, missing, step);
      return;
    }
    long[] keys = list.keys();
    int[] rows = list.rows();
    int count = list.count();
    int without = 0;
    for (int first = 0; first < count; first += BLOCK) {
      int n = Math.min(BLOCK, count - first);
      fetch(keys, first, n);
      for (int i = 0; i < n; i++) {
        rows[first + i] = index.find(keys[first + i], hashes[i]);
      }
      for (int i = 0; i < n; i++) {
        if (rows[first + i] < 0) {
          rows[first + i] = make(keys[first + i], hashes[i], missing, step);
          without += rows[first + i] >>> 31;
        }
      }
    }
    lookups += count;
    list.resolved(this, version, made, without);
  }

  /// Resolves a list while rows may be in the store. The rows of the list stay in memory during
  /// this.
  private void resolveSpilling(RowSpill from, RowList list, Missing missing, long step) {
    long[] keys = list.keys();
    int[] rows = list.rows();
    int count = list.count();
    int without = 0;
    try {
      bring(from, keys, rows, count);
      for (int i = 0; i < count; i++) {
        if (rows[i] < 0) {
          rows[i] = make(keys[i], KeyHash.of(keys[i]), missing, step);
        }
        without += rows[i] >>> 31;
      }
    } catch (RuntimeException failed) {
      from.unpin();
      throw failed;
    }
    from.used(rows, count);
    lookups += count;
    list.resolved(this, version, made, without);
  }

  /// Finds the rows of keys, or -1, and keeps them in memory until `RowSpill.used`.
  private void bring(RowSpill from, long[] keys, int[] rows, int count) {
    for (int first = 0; first < count; first += BLOCK) {
      int n = Math.min(BLOCK, count - first);
      fetch(keys, first, n);
      for (int i = 0; i < n; i++) {
        rows[first + i] = index.find(keys[first + i], hashes[i]);
      }
    }
    from.pin(rows, count);
    from.bring(keys, rows, count);
  }

  private void fetch(long[] keys, int first, int n) {
    long sum = 0;
    for (int i = 0; i < n; i++) {
      long hash = KeyHash.of(keys[first + i]);
      hashes[i] = hash;
      sum += index.first(hash);
    }
    sink[0] = sum;
  }

  /// Returns the row of a key for which none was found, or -1 if none is created.
  private int make(long key, long hash, Missing missing, long step) {
    if (missing == Missing.LEAVE) {
      return -1;
    }
    int row = index.find(key, hash); // because the key may occur twice in the list
    if (row >= 0) {
      return row;
    }
    if (missing == Missing.CREATE && admission != null && !admission.admits(hash)) {
      declined++;
      return -1;
    }
    row = add(key, hash, shortened(step));
    spec.initial().fill(seed, key, fresh, 0, spec.width());
    tiles.initialize(row, fresh);
    return row;
  }

  private int add(long key, long hash, int step) {
    if (spill != null) {
      spill.ensureRoomForNew();
    }
    int row = place(key, hash, step);
    if (spill != null) {
      spill.made(row);
    }
    made++;
    return row;
  }

  private int place(long key, long hash, int step) {
    index.ensureRoom(hash);
    int row = memory.allocate(key, step);
    snapshots.made(row);
    index.insert(hash, row);
    return row;
  }

  /// Limits a step to 31 bits. Larger steps count as the largest.
  private static int shortened(long step) {
    return Math.clamp(step, 0, Integer.MAX_VALUE);
  }

  /// Writes the values of the rows at positions `first` to `first + count` of a resolved list to
  /// `into`, contiguously. A key without a row reads as its initial values. Changes nothing.
  ///
  /// Hot path.
  ///
  /// @param into FLOAT32 from `offset` in bytes, of any alignment
  public void read(RowList list, int first, int count, MemorySegment into, long offset) {
    checkUse();
    check(list, first, count, into, offset);
    tiles.read(list, first, first + count, into, offset, absent);
  }

  /// Records the pull of a resolved list's rows, except for rows that were used in the last `every`
  /// steps.
  ///
  /// Hot path.
  public void pulled(RowList list, long step, long every) {
    checkUse();
    int now = shortened(step);
    for (int i = 0; i < list.count(); i++) {
      int row = list.rows()[i];
      if (row >= 0 && now - Math.max(memory.step(row), memory.pulled(row)) >= every) {
        memory.pull(row, now);
        if (spill != null) {
          spill.changed(row); // or the store would keep the earlier step
        }
      }
    }
  }

  /// Replaces the update rule of the next updates with one that has equal slots, such as another
  /// learning rate.
  public void use(UpdateRule rule) {
    tiles.use(rule);
  }

  /// Applies gradients to the rows at positions `first` to `first + count` of a resolved list, and
  /// marks them as used. A repeated key is updated repeatedly, in order. A key without a row is
  /// ignored.
  ///
  /// Hot path.
  ///
  /// @param gradients FLOAT32, row after row, from `offset` in bytes, of any alignment
  /// @param step number of this update of the table, from 1
  public void update(
      RowList list, int first, int count, MemorySegment gradients, long offset, long step) {
    checkUse();
    check(list, first, count, gradients, offset);
    before(list.rows(), first, count);
    use.with(tiles.rate(step), shortened(step));
    tiles.update(list, first, first + count, gradients, offset, use);
  }

  /// Replaces the values of the rows at positions `first` to `first + count` of a resolved list,
  /// and marks them as used. Their slots do not change. A key without a row is ignored.
  ///
  /// @param values FLOAT32, row after row, from `offset` in bytes, of any alignment
  /// @param step number of this update of the table, from 1
  public void assign(
      RowList list, int first, int count, MemorySegment values, long offset, long step) {
    checkUse();
    check(list, first, count, values, offset);
    before(list.rows(), first, count);
    use.with(1, shortened(step));
    assigned.update(list, first, first + count, values, offset, use);
  }

  /// Sets the rows of a list of distinct keys, and marks them as used. Creates missing rows
  /// regardless of admission, all of them before it sets the first one.
  ///
  /// @param floats FLOAT32, for each row its values, whose slots then get their initial values, or
  ///   its values and slots
  /// @param step of the use
  public void insert(RowList list, MemorySegment floats, long step) {
    resolve(list, Missing.ADMIT, step);
    int count = list.count();
    check(list, 0, count, floats, 0);
    before(list.rows(), 0, count);
    boolean withSlots = floats.byteSize() == 4L * spec.floats() * count;
    for (int i = 0; i < count; i++) {
      int row = list.rows()[i];
      if (withSlots) {
        memory.copyIn(row, floats, 4L * spec.floats() * i);
      } else {
        long at = 4L * spec.width() * i;
        MemorySegment.copy(floats, JAVA_FLOAT_UNALIGNED, at, fresh, 0, spec.width());
        tiles.initialize(row, fresh);
      }
      memory.use(list.rows(), i, 1, shortened(step));
    }
  }

  /// Prepares snapshots and store for the change of rows.
  private void before(int[] rows, int first, int count) {
    snapshots.before(rows, first, count);
    if (spill != null) {
      spill.changed(rows, first, count);
    }
  }

  private void check(RowList list, int first, int count, MemorySegment memoryOfRows, long offset) {
    if (!list.isOf(this, version)) {
      throw new IllegalStateException(
          owner + ": the list has not been resolved since rows have gone; call resolve first");
    }
    if (first < 0 || count < 0 || first > list.count() - count) {
      throw new IndexOutOfBoundsException(
          "%s: places %d and %d more of a list of %d keys"
              .formatted(owner, first, count, list.count()));
    }
    long bytes = (long) count * spec.width() * Float.BYTES;
    if (offset < 0 || bytes > memoryOfRows.byteSize() - offset) {
      throw new IndexOutOfBoundsException(
          "%s: %d rows of %d values are %d bytes, but there are %d from offset %d on"
              .formatted(
                  owner, count, spec.width(), bytes, memoryOfRows.byteSize() - offset, offset));
    }
  }

  private void checkUse() {
    if (Thread.currentThread() != thread) {
      throw new WrongThreadException(
          owner + " is of " + thread + ", but " + Thread.currentThread() + " has called");
    }
    if (closed) {
      throw new IllegalStateException(owner + " is closed");
    }
  }

  /// Removes the row of a key. Returns whether there was one.
  public boolean remove(long key) {
    checkUse();
    long hash = KeyHash.of(key);
    int row = index.find(key, hash);
    if (row < 0 && spill != null) {
      int[] its = {row};
      spill.bring(new long[] {key}, its, 1);
      row = its[0];
    }
    if (row < 0) {
      return false;
    }
    drop(row, key, hash);
    return true;
  }

  private void drop(int row, long key, long hash) {
    if (spill != null) {
      spill.remove(row, key);
    }
    takeOut(row, key, hash);
    if (spill != null) {
      spill.removed(row);
    }
    evicted++;
  }

  private void takeOut(int row, long key, long hash) {
    snapshots.before(row);
    index.remove(key, hash);
    memory.free(row);
    version++;
  }

  /// Evicts rows among the `limit` places from `from`, and then among the rows that are not in
  /// memory. Their memory is reused for new rows.
  ///
  /// @param from `EvictionScan.START`, then `next` of the previous sweep
  /// @param gone receives the keys of the evicted rows
  public EvictionScan evict(long from, int limit, Eviction which, LongConsumer gone) {
    checkUse();
    if (spill != null && from >= OUTSIDE) {
      EvictionScan sweep = spill.evict(OUTSIDE, limit, which, tiles, gone);
      evicted += sweep.rows();
      return sweep;
    }
    int end = (int) Math.min(memory.end(), from + limit);
    int count = 0;
    for (int row = (int) from; row < end; row++) {
      if (memory.isUsed(row) && evicts(which, row)) {
        long key = memory.key(row);
        drop(row, key, KeyHash.of(key));
        gone.accept(key);
        count++;
      }
    }
    if (end < memory.end()) {
      return new EvictionScan(end, count);
    }
    if (spill == null || spill.spilled() == 0) {
      return new EvictionScan(-1, count);
    }
    spill.beginEviction();
    return new EvictionScan(OUTSIDE, count);
  }

  private boolean evicts(Eviction which, int row) {
    return which.evicts(memory.step(row), memory.pulled(row), () -> tiles.norm(row));
  }

  /// Visits all rows, first those in memory. `visitor` may change the visited row. Rows that it
  /// creates may or may not be visited.
  public void forEachRow(RowVisitor visitor) {
    checkUse();
    if (spill != null) {
      spill.forEach(visitor, spec.floats());
      return;
    }
    for (int row = 0; row < memory.end(); row++) {
      if (memory.isUsed(row)) {
        visitor.row(memory.key(row), memory.step(row), memory.floats(row, spec.floats()));
      }
    }
  }

  @Override
  public TableSnapshot snapshot(long since, TableSink sink) {
    Objects.requireNonNull(sink, "sink");
    checkUse();
    return snapshots.begin(
        memory.end(),
        Math.clamp(SLICE_BYTES / rowBytes(), 16, 1024),
        new RowSource(memory, shortened(since), sink, spill == null ? null : spill.freeze()));
  }

  @Override
  public void load(int part, long at, MemorySegment content) {
    importRows(content, 0, memory.countWritten(content));
  }

  /// Imports rows from a snapshot of a table of the same width and rule. They replace rows of the
  /// same keys. Throws `IllegalArgumentException`, before any change, if the bytes are not rows.
  ///
  /// @param from rows from `offset` in bytes
  public void importRows(MemorySegment from, long offset, int count) {
    checkUse();
    memory.checkWritten(from, offset, count);
    if (spill == null) {
      for (int i = 0; i < count; i++) {
        var unused = importRow(from, offset + (long) i * rowBytes());
      }
    } else {
      importSpilling(spill, from, offset, count);
    }
  }

  private int importRow(MemorySegment from, long at) {
    long key = RowMemory.writtenKey(from, at);
    long hash = KeyHash.of(key);
    int row = index.find(key, hash);
    snapshots.before(row);
    if (row < 0) {
      row = add(key, hash, 0);
    }
    if (spill != null) {
      spill.changed(row);
    }
    memory.read(row, from, at);
    return row;
  }

  private void importSpilling(RowSpill by, MemorySegment from, long offset, int count) {
    long[] keys = new long[by.batch()];
    int[] rows = new int[by.batch()];
    for (int first = 0; first < count; first += keys.length) {
      int n = Math.min(keys.length, count - first);
      long at = offset + (long) first * rowBytes();
      for (int i = 0; i < n; i++) {
        keys[i] = RowMemory.writtenKey(from, at + (long) i * rowBytes());
      }
      try {
        bring(by, keys, rows, n);
        for (int i = 0; i < n; i++) {
          rows[i] = importRow(from, at + (long) i * rowBytes());
        }
      } catch (RuntimeException failed) {
        by.unpin();
        throw failed;
      }
      by.used(rows, n);
    }
  }

  @Override
  public TableStatistics statistics() {
    checkUse();
    return new TableStatistics(
        rows(),
        bytes(),
        lookups,
        made,
        declined,
        evicted,
        spill == null ? TableStatistics.Spilled.NONE : spill.statistics());
  }

  private long bytes() {
    return memory.bytes()
        + index.bytes()
        + (admission == null ? 0 : admission.bytes())
        + (spill == null ? 0 : spill.bytes());
  }

  @Override
  public void close() {
    if (!closed) {
      checkUse();
      closed = true;
      if (spill != null) {
        spill.close();
      }
      index.close();
      memory.close();
      budget.release(admission == null ? 0 : admission.bytes());
    }
  }
}
