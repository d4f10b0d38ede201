// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.kv.rule.InitialValues;
import io.weft.kv.rule.UpdateRule;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The values of a table that one shard has: FLOAT32 values of any length by any 64-bit key, with
/// the slots of their update rule, in native memory. A key's value keeps the length that it was
/// first given. A value takes, as it is exported, 16 bytes and its floats: key (8), step of its
/// last use (4), length (4), values, then each slot; and about 100 bytes to be found.
///
/// Of one thread.
public final class ValueTable implements AutoCloseable {

  /// Of an exported value, before its floats.
  public static final int HEAD_BYTES = 16;

  private static final int STEP_AT = 8;
  private static final int LENGTH_AT = 12;
  private static final int CHUNK_BYTES = 256 << 10;

  /// What a key takes in the heap, about.
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
  private final List<ValueSnapshot> snapshots = new ArrayList<>();

  /// An empty table. Throws `IllegalArgumentException` if the rule has slots of rows.
  ///
  /// @param name of messages, and part of what initial values depend on
  /// @param seed of initial values
  /// @param most floats of a value
  public ValueTable(
      String name,
      UpdateRule rule,
      InitialValues initial,
      long seed,
      int most,
      MemoryBudget budget) {
    this.owner = "table '" + name + "'";
    this.rule = rule;
    this.initial = initial;
    this.seed = InitialValues.seed(seed, name);
    this.most = most;
    this.budget = budget;
    this.updates = new ElementUpdates(owner, rule, most);
  }

  /// Bytes of an exported value of so many floats, by a rule of so many slots.
  public static long exportedBytes(int length, int slots) {
    return HEAD_BYTES + (long) length * Float.BYTES * (1 + slots);
  }

  /// Length of the exported value that begins at `at`; the bytes of its head must be there.
  public static int exportedLength(MemorySegment from, long at) {
    return from.get(JAVA_INT_UNALIGNED, at + LENGTH_AT);
  }

  /// Floats of a key's value; 0 = it has none.
  public int length(long key) {
    int number = index.find(key);
    return number < 0 || isAbsent(number) ? 0 : lengths[number];
  }

  private boolean isAbsent(int number) {
    return values.get(number).byteSize() == 0;
  }

  /// Throws `IllegalArgumentException` with key, expected and actual, if the key's value cannot be
  /// of this length.
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

  /// The key's value is of this length from now on, also while there is none. Throws what
  /// `checkLength` throws, and `MemoryBudgetException`.
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

  /// Applies a gradient to the value of a key for which `reserve` was called; makes it if there is
  /// none. Throws `MemoryBudgetException`.
  ///
  /// @param gradient FLOAT32 from `offset` in bytes, of any alignment and the value's length
  /// @param step number of this update of the table, from 1
  public void update(long key, MemorySegment gradient, long offset, long step) {
    MemorySegment value = changing(key, step);
    int length = lengths[index.find(key)];
    updates.apply(value, HEAD_BYTES, (long) length * Float.BYTES, length, gradient, offset, step);
  }

  /// Puts floats in the place of those of a key for which `reserve` was called; its slots stay.
  /// Makes the value if there is none. Throws `MemoryBudgetException`.
  ///
  /// @param floats FLOAT32, of the value's length
  /// @param step number of this update of the table, from 1
  public void assign(long key, MemorySegment floats, long step) {
    MemorySegment value = changing(key, step);
    MemorySegment.copy(floats, 0, value, HEAD_BYTES, floats.byteSize());
  }

  /// The value of a key, made if there is none, about to change.
  private MemorySegment changing(long key, long step) {
    int number = index.find(key);
    if (isAbsent(number)) {
      make(number, key);
    } else {
      snapshots.forEach(each -> each.before(number));
    }
    MemorySegment value = values.get(number);
    value.set(JAVA_INT, STEP_AT, shortened(step));
    return value;
  }

  /// Steps are kept in 31 bits; those beyond count as the last.
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
    snapshots.forEach(each -> each.made(number));
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

  /// Writes a key's value; one that it has not reads as it would begin. Throws
  /// `IllegalArgumentException` if it is of another length.
  ///
  /// @param into FLOAT32 from `offset` in bytes, of any alignment
  public void read(long key, int length, MemorySegment into, long offset) {
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

  /// How many values there are.
  public long count() {
    return made;
  }

  /// Memory taken.
  public long bytes() {
    return bytes;
  }

  /// Shows all values, without their slots.
  public void forEach(RowVisitor visitor) {
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

  /// The values as they are now, taken out in parts while the table goes on.
  ///
  /// @param since values that were last used before this step are not in it; 0 = all are
  /// @param sink sees each value once, here or in the calls that change it
  public ValueSnapshot snapshot(long since, RowSink sink) {
    var begun = new ValueSnapshot(this, values.size(), since, sink);
    snapshots.add(begun);
    return begun;
  }

  void end(ValueSnapshot over) {
    boolean unused = snapshots.remove(over);
  }

  /// Shows a value to a snapshot, if there is one and it was used at this step or later.
  void show(int number, long since, RowSink sink) {
    MemorySegment value = values.get(number);
    if (!isAbsent(number) && value.get(JAVA_INT, STEP_AT) >= since) {
      sink.row(value, 0, (int) value.byteSize());
    }
  }

  /// Takes values that a table of the same rule has exported, in the place of those of the same
  /// keys. Throws `IllegalArgumentException`, before anything is changed, if these cannot be
  /// values, and `MemoryBudgetException`.
  public void importValues(MemorySegment from) {
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
        snapshots.forEach(each -> each.before(number));
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
          "%s: %d bytes at %d are no value".formatted(owner, left, at));
    }
    checkLength(from.get(JAVA_LONG_UNALIGNED, at), exportedLength(from, at));
    if (exported(from, at) > left || from.get(JAVA_INT_UNALIGNED, at + STEP_AT) < 0) {
      throw new IllegalArgumentException(
          "%s: a value of %d floats at %d takes %d bytes, and %d are left; is its rule another one?"
              .formatted(owner, exportedLength(from, at), at, exported(from, at), left));
    }
  }

  /// Frees all values and gives back what they took of the budget.
  @Override
  public void close() {
    if (arena.scope().isAlive()) {
      arena.close();
      budget.release(bytes);
    }
  }
}
