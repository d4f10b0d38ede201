// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.kv.rule.InitialValues;
import io.weft.kv.rule.UpdateRule;
import io.weft.kv.rule.UpdateRules;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.spec.TableStatistics;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/// One shard's values of a table: FLOAT32 values of any length by any 64-bit key, with the slots of
/// their update rule, in native memory. A key's value keeps its first length. An exported value
/// consists of its key (8 bytes), the step of its last use (4 bytes), its length (4 bytes), the
/// values, then each slot. The index takes about another 100 bytes per value.
///
/// One thread.
public final class ValueTable implements TableStorage {

  /// The bytes of an exported value before its floats.
  public static final int HEAD_BYTES = 16;

  private static final int STEP_AT = 8;
  private static final int LENGTH_AT = 12;
  private static final int CHUNK_BYTES = 256 << 10;

  /// The number of values that a part of a snapshot visits.
  private static final int PLACES_AT_ONCE = 256;

  /// The approximate heap bytes per key.
  private static final int ENTRY_BYTES = 96;

  private final Arena arena = Arena.ofConfined();
  private final String owner;
  private final UpdateRule rule;
  private final InitialValues initial;
  private final long seed;
  private final int most;
  private final MemoryBudget budget;
  private final ElementUpdates updates;
  private final KeyIndex index = new KeyIndex();
  private final List<MemorySegment> values = new ArrayList<>();
  private int[] lengths = new int[16];
  private MemorySegment chunk = MemorySegment.NULL;
  private long chunkUsed;
  private long bytes;
  private long made;
  private long lookups;
  private final TableSnapshot.Open snapshots = new TableSnapshot.Open();

  /// Creates an empty table. Throws `IllegalArgumentException` for an invalid rule or initial
  /// values, and for a rule with row slots.
  public ValueTable(TableSpec spec, MemoryBudget budget) {
    this.owner = "table '" + spec.name() + "'";
    this.rule = UpdateRules.parse(spec.rule());
    this.most = (int) spec.width();
    this.initial = InitialValues.parse(spec.initial().values(), most);
    this.seed = InitialValues.seed(spec.initial().seed(), spec.name());
    this.budget = Objects.requireNonNull(budget, "budget");
    this.updates = new ElementUpdates(owner, rule, most);
  }

  /// Returns the bytes of an exported value of `length` floats with `slots` slots.
  public static long exportedBytes(int length, int slots) {
    return HEAD_BYTES + (long) length * Float.BYTES * (1 + slots);
  }

  /// Returns the length of the exported value at `at`, whose head must be complete.
  public static int exportedLength(MemorySegment from, long at) {
    return from.get(JAVA_INT_UNALIGNED, at + LENGTH_AT);
  }

  /// Returns the number of floats of a key's value; 0 = it has none.
  public int length(long key) {
    lookups++;
    int number = index.find(key);
    return number < 0 || isAbsent(number) ? 0 : lengths[number];
  }

  private boolean isAbsent(int number) {
    return values.get(number).byteSize() == 0;
  }

  /// Throws `IllegalArgumentException` with key, expected and actual length, if the key's value
  /// cannot have this length.
  public void checkLength(long key, int length) {
    int number = index.find(key);
    int known = number < 0 ? 0 : lengths[number];
    if (known > 0 && known != length) {
      throw new IllegalArgumentException(
          "key %d has a value of %d floats, not %d; it keeps the length of its first push"
              .formatted(key, known, length));
    }
    if (length < 1 || length > most) {
      throw new IllegalArgumentException(
          "key %d with a value of %d floats; this table has values of 1 to %d"
              .formatted(key, length, most));
    }
  }

  /// Fixes the length of the key's value, even before the value exists. Throws like `checkLength`,
  /// and throws `MemoryBudgetException`.
  public void reserve(long key, int length) {
    checkLength(key, length);
    if (index.find(key) >= 0) {
      return;
    }
    budget.reserve(owner, ENTRY_BYTES);
    bytes += ENTRY_BYTES;
    int number = index.add(key);
    values.add(MemorySegment.NULL);
    if (number == lengths.length) {
      lengths = Arrays.copyOf(lengths, 2 * number);
    }
    lengths[number] = length;
  }

  /// Replaces the update rule of the next updates with one that has equal slots, such as another
  /// learning rate.
  public void use(UpdateRule changed) {
    updates.use(changed);
  }

  /// Applies a gradient to the value of a key, which is created if it does not exist. `reserve`
  /// must have been called for the key. Throws `MemoryBudgetException`.
  ///
  /// @param gradient FLOAT32 from `offset` in bytes, of any alignment and the value's length
  /// @param step number of this update of the table, from 1
  public void update(long key, MemorySegment gradient, long offset, long step) {
    Objects.requireNonNull(gradient, "gradient");
    lookups++;
    MemorySegment value = changing(key, step);
    int length = lengths[index.find(key)];
    updates.apply(value, HEAD_BYTES, (long) length * Float.BYTES, length, gradient, offset, step);
  }

  /// Replaces the floats of a key's value, which is created if it does not exist. Its slots do not
  /// change. `reserve` must have been called for the key. Throws `MemoryBudgetException`.
  ///
  /// @param floats FLOAT32, of the value's length
  /// @param step number of this update of the table, from 1
  public void assign(long key, MemorySegment floats, long step) {
    Objects.requireNonNull(floats, "floats");
    MemorySegment value = changing(key, step);
    MemorySegment.copy(floats, 0, value, HEAD_BYTES, floats.byteSize());
  }

  /// Prepares the change of a key's value and returns the value, which is created if it does not
  /// exist.
  private MemorySegment changing(long key, long step) {
    int number = index.find(key);
    if (isAbsent(number)) {
      make(number, key);
    } else {
      snapshots.before(number);
    }
    MemorySegment value = values.get(number);
    value.set(JAVA_INT, STEP_AT, shortened(step));
    return value;
  }

  /// Limits a step to 31 bits. Larger steps count as the largest.
  private static int shortened(long step) {
    return (int) Math.min(step, Integer.MAX_VALUE);
  }

  private void make(int number, long key) {
    int length = lengths[number];
    MemorySegment value = allocate(exportedBytes(length, rule.slots()));
    value.set(JAVA_LONG, 0, key);
    value.set(JAVA_INT, LENGTH_AT, length);
    if (!initial.isZero()) {
      float[] fresh = new float[length];
      initial.fill(seed, key, fresh, 0, length);
      MemorySegment.copy(fresh, 0, value, JAVA_FLOAT, HEAD_BYTES, length);
    }
    updates.initialize(value, HEAD_BYTES, (long) length * Float.BYTES, length);
    values.set(number, value);
    made++;
    snapshots.made(number);
  }

  private MemorySegment allocate(long size) {
    long aligned = (size + 7) & -8;
    if (aligned > CHUNK_BYTES / 4) {
      budget.reserve(owner, aligned);
      bytes += aligned;
      return arena.allocate(aligned, 8).asSlice(0, size);
    }
    if (chunkUsed + aligned > chunk.byteSize()) {
      budget.reserve(owner, CHUNK_BYTES);
      bytes += CHUNK_BYTES;
      chunk = arena.allocate(CHUNK_BYTES, 8);
      chunkUsed = 0;
    }
    MemorySegment value = chunk.asSlice(chunkUsed, size);
    chunkUsed += aligned;
    return value;
  }

  /// Writes a key's value to `into`. A value that does not exist reads as its initial values.
  /// Throws `IllegalArgumentException` if the value has another length.
  ///
  /// @param into FLOAT32 from `offset` in bytes, of any alignment
  public void read(long key, int length, MemorySegment into, long offset) {
    lookups++;
    checkLength(key, length);
    int number = index.find(key);
    long size = (long) length * Float.BYTES;
    if (number < 0 || isAbsent(number)) {
      float[] fresh = new float[length];
      initial.fill(seed, key, fresh, 0, length);
      MemorySegment.copy(MemorySegment.ofArray(fresh), 0, into, offset, size);
    } else {
      MemorySegment.copy(values.get(number), HEAD_BYTES, into, offset, size);
    }
  }

  @Override
  public TableStatistics statistics() {
    return new TableStatistics(made, bytes, lookups, made, 0, 0, TableStatistics.Spilled.NONE);
  }

  /// Visits all values, without their slots.
  public void forEach(RowVisitor visitor) {
    Objects.requireNonNull(visitor, "visitor");
    for (int number = 0; number < values.size(); number++) {
      if (!isAbsent(number)) {
        MemorySegment value = values.get(number);
        visitor.row(
            value.get(JAVA_LONG, 0),
            value.get(JAVA_INT, STEP_AT),
            value.asSlice(HEAD_BYTES, (long) lengths[number] * Float.BYTES).asReadOnly());
      }
    }
  }

  @Override
  public TableSnapshot snapshot(long since, TableSink sink) {
    Objects.requireNonNull(sink, "sink");
    return snapshots.begin(values.size(), PLACES_AT_ONCE, number -> emit(number, since, sink));
  }

  /// Emits a value to a snapshot, if it exists and was used at this step or later.
  private void emit(int number, long since, TableSink sink) {
    MemorySegment value = values.get(number);
    if (!isAbsent(number) && value.get(JAVA_INT, STEP_AT) >= since) {
      sink.row(value, 0, (int) value.byteSize());
    }
  }

  @Override
  public void load(int part, long offset, MemorySegment from) {
    for (long at = 0; at < from.byteSize(); at += exported(from, at)) {
      checkExported(from, at);
    }
    for (long at = 0; at < from.byteSize(); at += exported(from, at)) {
      long key = from.get(JAVA_LONG_UNALIGNED, at);
      reserve(key, exportedLength(from, at));
      int number = index.find(key);
      if (isAbsent(number)) {
        make(number, key);
      } else {
        snapshots.before(number);
      }
      MemorySegment value = values.get(number);
      MemorySegment.copy(from, at, value, 0, value.byteSize());
    }
  }

  private long exported(MemorySegment from, long at) {
    return exportedBytes(exportedLength(from, at), rule.slots());
  }

  private void checkExported(MemorySegment from, long at) {
    long left = from.byteSize() - at;
    if (left < HEAD_BYTES) {
      throw new IllegalArgumentException(
          "%s: %d bytes at %d are not a value".formatted(owner, left, at));
    }
    checkLength(from.get(JAVA_LONG_UNALIGNED, at), exportedLength(from, at));
    if (exported(from, at) > left || from.get(JAVA_INT_UNALIGNED, at + STEP_AT) < 0) {
      throw new IllegalArgumentException(
          "%s: a value of %d floats at %d takes %d bytes, and %d are left; is its rule another one?"
              .formatted(owner, exportedLength(from, at), at, exported(from, at), left));
    }
  }

  @Override
  public void close() {
    if (arena.scope().isAlive()) {
      arena.close();
      budget.release(bytes);
    }
  }
}
