// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.weft.kv.rule.UpdateRule;
import io.weft.kv.rule.UpdateTile;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;

/// Copies rows between their memory and heap tiles, several rows at a time, for update rules and
/// reads. One thread.
final class RowTiles {

  private static final int TILE_ELEMENTS = 1024;

  private static final int LINE_BYTES = 64;
  private static final int MARKS = 4096;

  private final RowMemory memory;
  private UpdateRule rule;
  private final int width;
  private final int slots;
  private final int rowSlots;
  private final int tileRows;
  private final UpdateTile tile;
  private final int[] marks = new int[MARKS];
  private int round;

  /// The sum of the prefetched bytes, which keeps the JIT from eliminating the reads.
  private final long[] sink = new long[1];

  RowTiles(RowMemory memory, UpdateRule rule, int width) {
    this.memory = memory;
    this.rule = rule;
    this.width = width;
    slots = rule.slots();
    rowSlots = rule.rowSlots();
    tileRows = Math.max(1, TILE_ELEMENTS / width);
    tile = new UpdateTile(rule, tileRows * width);
  }

  /// Replaces the rule with one that has equal slots.
  void use(UpdateRule other) {
    rule = Objects.requireNonNull(other, "rule");
  }

  /// Returns the learning rate of a step.
  float rate(long step) {
    return rule.rate(step);
  }

  /// Applies the rule to the rows at positions `first` to `end` of a list. Rows of -1 are ignored.
  /// A repeated row is changed repeatedly, in order.
  ///
  /// Hot path.
  void update(RowList list, int first, int end, MemorySegment gradients, long offset, Use use) {
    int[] rows = list.rows();
    int at = first;
    while (at < end) {
      if (rows[at] < 0) {
        at++;
        continue;
      }
      int n = list.isDistinct() ? Math.min(tileRows, end - at) : distinct(rows, at, end);
      touch(rows, at, n, memory.rowBytes());
      long from = offset + (long) (at - first) * width * Float.BYTES;
      MemorySegment.copy(gradients, JAVA_FLOAT_UNALIGNED, from, tile.gradient(), 0, n * width);
      load(rows, at, n);
      rule.apply(tile, n, width, use.rate);
      store(rows, at, n);
      memory.use(rows, at, n, use.step);
      at += n;
    }
  }

  /// The values that all rows of a push share. A table has one instance, because a push must not
  /// allocate.
  static final class Use {
    private float rate;
    private int step;

    void with(float newRate, int newStep) {
      rate = newRate;
      step = newStep;
    }
  }

  /// Returns the number of rows from a position on, at most a tile, that exist and are certainly
  /// different.
  private int distinct(int[] rows, int at, int end) {
    int most = Math.min(tileRows, end - at);
    if (++round == 0) {
      Arrays.fill(marks, 0);
      round = 1;
    }
    int n = 0;
    while (n < most && rows[at + n] >= 0) {
      int mark = rows[at + n] & (MARKS - 1);
      if (marks[mark] == round) {
        break;
      }
      marks[mark] = round;
      n++;
    }
    return n;
  }

  /// Reads from each cache line of the first bytes of some rows, so that the processor fetches them
  /// concurrently.
  private void touch(int[] rows, int at, int n, int bytes) {
    if (bytes < LINE_BYTES) {
      return;
    }
    long sum = 0;
    for (int i = 0; i < n; i++) {
      int row = rows[at + i];
      if (row >= 0) {
        MemorySegment in = memory.in(row);
        long start = memory.at(row);
        for (int line = 0; line < bytes; line += LINE_BYTES) {
          sum += in.get(JAVA_INT, start + line);
        }
      }
    }
    sink[0] = sum;
  }

  private void load(int[] rows, int at, int n) {
    if (width < RowMemory.NARROW) {
      memory.gather(rows, at, n, 0, tile.values(), width);
      for (int slot = 0; slot < slots; slot++) {
        memory.gather(rows, at, n, (1 + slot) * width, tile.slot(slot), width);
      }
    } else {
      for (int i = 0; i < n; i++) {
        loadLong(rows[at + i], i * width);
      }
    }
    for (int slot = 0; slot < rowSlots; slot++) {
      memory.gather(rows, at, n, (1 + slots) * width + slot, tile.rowSlot(slot), 1);
    }
  }

  private void loadLong(int row, int place) {
    MemorySegment in = memory.in(row);
    long at = memory.at(row) + RowMemory.HEAD_BYTES;
    MemorySegment.copy(in, JAVA_FLOAT, at, tile.values(), place, width);
    for (int slot = 0; slot < slots; slot++) {
      at += (long) width * Float.BYTES;
      MemorySegment.copy(in, JAVA_FLOAT, at, tile.slot(slot), place, width);
    }
  }

  private void store(int[] rows, int at, int n) {
    if (width < RowMemory.NARROW) {
      memory.scatter(tile.values(), rows, at, n, 0, width);
      for (int slot = 0; slot < slots; slot++) {
        memory.scatter(tile.slot(slot), rows, at, n, (1 + slot) * width, width);
      }
    } else {
      for (int i = 0; i < n; i++) {
        storeLong(rows[at + i], i * width);
      }
    }
    for (int slot = 0; slot < rowSlots; slot++) {
      memory.scatter(tile.rowSlot(slot), rows, at, n, (1 + slots) * width + slot, 1);
    }
  }

  private void storeLong(int row, int place) {
    MemorySegment in = memory.in(row);
    long at = memory.at(row) + RowMemory.HEAD_BYTES;
    MemorySegment.copy(tile.values(), place, in, JAVA_FLOAT, at, width);
    for (int slot = 0; slot < slots; slot++) {
      at += (long) width * Float.BYTES;
      MemorySegment.copy(tile.slot(slot), place, in, JAVA_FLOAT, at, width);
    }
  }

  /// Writes the values of rows to `into`, contiguously. For rows of -1 it writes the values of
  /// `missing`.
  ///
  /// Hot path.
  void read(RowList list, int first, int end, MemorySegment into, long offset, Absent missing) {
    boolean narrow = width < RowMemory.NARROW && list.missing() == 0;
    long to = offset;
    for (int at = first; at < end; at += tileRows) {
      int n = Math.min(tileRows, end - at);
      if (narrow) {
        memory.gather(list.rows(), at, n, 0, tile.values(), width);
        MemorySegment.copy(tile.values(), 0, into, JAVA_FLOAT_UNALIGNED, to, n * width);
      } else {
        copyOut(list, at, n, into, to, missing);
      }
      to += (long) n * width * Float.BYTES;
    }
  }

  private void copyOut(
      RowList list, int first, int n, MemorySegment into, long offset, Absent missing) {
    long bytes = (long) width * Float.BYTES;
    touch(list.rows(), first, n, RowMemory.HEAD_BYTES + width * Float.BYTES);
    for (int i = 0; i < n; i++) {
      int row = list.rows()[first + i];
      if (row >= 0) {
        memory.copyOut(row, into, offset + i * bytes, bytes);
      } else {
        missing.fill(list.keys()[first + i], tile.values(), 0);
        MemorySegment.copy(tile.values(), 0, into, JAVA_FLOAT_UNALIGNED, offset + i * bytes, width);
      }
    }
  }

  /// The values of a key without a row.
  @FunctionalInterface
  interface Absent {
    void fill(long key, float[] into, int at);
  }

  /// Sets the values of a row, and its slots to their initial values.
  void initialize(int row, float[] values) {
    MemorySegment in = memory.in(row);
    long at = memory.at(row) + RowMemory.HEAD_BYTES;
    MemorySegment.copy(values, 0, in, JAVA_FLOAT, at, width);
    at += (long) width * Float.BYTES;
    for (int slot = 0; slot < slots; slot++) {
      at = fill(in, at, rule.initialSlot(slot), width);
    }
    for (int slot = 0; slot < rowSlots; slot++) {
      at = fill(in, at, rule.initialSlot(slots + slot), 1);
    }
  }

  private static long fill(MemorySegment in, long at, float value, int n) {
    for (int i = 0; i < n; i++) {
      in.set(JAVA_FLOAT, at + (long) i * Float.BYTES, value);
    }
    return at + (long) n * Float.BYTES;
  }

  double norm(int row) {
    return norm(memory.in(row), memory.at(row));
  }

  /// Returns the L2 norm of a row at offset `row`, in the format of `RowMemory.write`.
  double norm(MemorySegment in, long row) {
    long at = row + RowMemory.HEAD_BYTES;
    double sum = 0;
    for (int i = 0; i < width; i++) {
      double value = in.get(JAVA_FLOAT_UNALIGNED, at + (long) i * Float.BYTES);
      sum += value * value;
    }
    return Math.sqrt(sum);
  }
}
