// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT;

import io.weft.kv.rule.UpdateRule;
import io.weft.kv.rule.UpdateTile;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/// Carries rows between their memory and heap tiles, some rows at a time: for rules, and for what
/// is read. One thread.
final class RowTiles {

  private static final int TILE_ELEMENTS = 1024;

  /// Below so many values a row, a loop is faster than a copy.
  private static final int NARROW = 8;

  private static final int LINE_BYTES = 64;
  private static final int MARKS = 4096;

  private final RowMemory memory;
  private final UpdateRule rule;
  private final int width;
  private final int slots;
  private final int rowSlots;
  private final int tileRows;
  private final UpdateTile tile;
  private final int[] marks = new int[MARKS];
  private int round;

  /// What was read ahead is added up here, so that the JIT does not leave it out.
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

  /// Applies the rule to the rows at places `first` to `end` of `rows`; those that are -1 are left
  /// out. A row that is there twice is changed twice, in order.
  ///
  /// Hot path.
  void update(
      int[] rows, int first, int end, MemorySegment gradients, long offset, float rate, int step) {
    int at = first;
    while (at < end) {
      if (rows[at] < 0) {
        at++;
        continue;
      }
      int n = distinct(rows, at, end);
      touch(rows, at, n);
      long from = offset + (long) (at - first) * width * Float.BYTES;
      MemorySegment.copy(gradients, JAVA_FLOAT_UNALIGNED, from, tile.gradient(), 0, n * width);
      for (int i = 0; i < n; i++) {
        load(rows[at + i], i);
      }
      rule.apply(tile, n, width, rate);
      for (int i = 0; i < n; i++) {
        store(rows[at + i], i);
        memory.use(rows[at + i], step);
      }
      at += n;
    }
  }

  /// How many of the rows from a place on are there and, surely, different ones; at most a tile.
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

  /// Reads from each cache line of some rows, so that the processor fetches them at once.
  private void touch(int[] rows, int at, int n) {
    int bytes = memory.rowBytes();
    if (bytes < LINE_BYTES) {
      return;
    }
    long sum = 0;
    for (int i = 0; i < n; i++) {
      int row = rows[at + i];
      MemorySegment in = memory.in(row);
      long start = memory.at(row);
      for (int line = 0; line < bytes; line += LINE_BYTES) {
        sum += in.get(JAVA_INT, start + line);
      }
    }
    sink[0] = sum;
  }

  private void load(int row, int place) {
    MemorySegment in = memory.in(row);
    long at = memory.at(row) + RowMemory.HEAD_BYTES;
    at = toTile(in, at, tile.values(), place * width, width);
    for (int slot = 0; slot < slots; slot++) {
      at = toTile(in, at, tile.slot(slot), place * width, width);
    }
    for (int slot = 0; slot < rowSlots; slot++) {
      at = toTile(in, at, tile.rowSlot(slot), place, 1);
    }
  }

  private void store(int row, int place) {
    MemorySegment in = memory.in(row);
    long at = memory.at(row) + RowMemory.HEAD_BYTES;
    at = fromTile(tile.values(), place * width, in, at, width);
    for (int slot = 0; slot < slots; slot++) {
      at = fromTile(tile.slot(slot), place * width, in, at, width);
    }
    for (int slot = 0; slot < rowSlots; slot++) {
      at = fromTile(tile.rowSlot(slot), place, in, at, 1);
    }
  }

  private static long toTile(MemorySegment in, long at, float[] to, int place, int n) {
    if (n < NARROW) {
      for (int i = 0; i < n; i++) {
        to[place + i] = in.get(JAVA_FLOAT, at + (long) i * Float.BYTES);
      }
    } else {
      MemorySegment.copy(in, JAVA_FLOAT, at, to, place, n);
    }
    return at + (long) n * Float.BYTES;
  }

  private static long fromTile(float[] from, int place, MemorySegment in, long at, int n) {
    if (n < NARROW) {
      for (int i = 0; i < n; i++) {
        in.set(JAVA_FLOAT, at + (long) i * Float.BYTES, from[place + i]);
      }
    } else {
      MemorySegment.copy(from, place, in, JAVA_FLOAT, at, n);
    }
    return at + (long) n * Float.BYTES;
  }

  /// Writes the values of rows to `into`, one after the other; of those that are -1, what `missing`
  /// gives.
  ///
  /// Hot path.
  void read(RowList list, int first, int end, MemorySegment into, long offset, Absent missing) {
    int[] rows = list.rows();
    long to = offset;
    for (int at = first; at < end; at += tileRows) {
      int n = Math.min(tileRows, end - at);
      if (width >= NARROW) {
        touchValues(rows, at, n);
      }
      for (int i = 0; i < n; i++) {
        int row = rows[at + i];
        if (row < 0) {
          missing.fill(list.keys()[at + i], tile.values(), i * width);
        } else {
          long from = memory.at(row) + RowMemory.HEAD_BYTES;
          long unused = toTile(memory.in(row), from, tile.values(), i * width, width);
        }
      }
      MemorySegment.copy(tile.values(), 0, into, JAVA_FLOAT_UNALIGNED, to, n * width);
      to += (long) n * width * Float.BYTES;
    }
  }

  private void touchValues(int[] rows, int at, int n) {
    int bytes = RowMemory.HEAD_BYTES + width * Float.BYTES;
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

  /// What a key without a row reads as.
  @FunctionalInterface
  interface Absent {
    void fill(long key, float[] into, int at);
  }

  /// Makes a row what `values` says, with the slots that the rule begins with.
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

  /// L2 norm of a row's values.
  double norm(int row) {
    MemorySegment in = memory.in(row);
    long at = memory.at(row) + RowMemory.HEAD_BYTES;
    double sum = 0;
    for (int i = 0; i < width; i++) {
      double value = in.get(JAVA_FLOAT, at + (long) i * Float.BYTES);
      sum += value * value;
    }
    return Math.sqrt(sum);
  }
}
