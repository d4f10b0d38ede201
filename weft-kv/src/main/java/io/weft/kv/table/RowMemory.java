// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The rows of a table by number, in chunks of native memory. A row never moves. A row consists of
/// its key (8 bytes), the step of its last update (4 bytes), a used bit and the step of its last
/// recorded pull (1 bit and 31 bits), its values and its slots. Free rows form a list, linked
/// through the field of the key. One thread.
final class RowMemory implements AutoCloseable {

  /// The bytes of a row before its values.
  static final int HEAD_BYTES = 16;

  /// The number of values per row below which rows are copied value by value, which is then faster
  /// than a bulk copy of each row.
  static final int NARROW = 8;

  private static final int STEP_AT = 8;
  private static final int STATE_AT = 12;
  private static final int USED = 1;
  private static final int CHUNK_BYTES = 256 << 10;

  private final String owner;
  private final MemoryBudget budget;
  private final int rowBytes;
  private final int shift;
  private final Arena arena = Arena.ofConfined();
  private final List<MemorySegment> segments = new ArrayList<>();
  private MemorySegment[] chunks = new MemorySegment[8];
  private long[] starts = new long[8];
  private int end;
  private int firstFree = -1;
  private int used;

  /// @param floats values and slots of a row
  RowMemory(String owner, MemoryBudget budget, int floats) {
    this.owner = owner;
    this.budget = budget;
    rowBytes = Math.addExact(Math.multiplyExact(floats, Float.BYTES), HEAD_BYTES);
    shift = 31 - Integer.numberOfLeadingZeros(Math.max(1, CHUNK_BYTES / rowBytes));
  }

  int rowBytes() {
    return rowBytes;
  }

  /// Returns the limit of row numbers: all rows, in use or free, have lower numbers.
  int end() {
    return end;
  }

  int used() {
    return used;
  }

  long bytes() {
    return (long) segments.size() * chunkBytes();
  }

  private long chunkBytes() {
    return (long) rowBytes << shift;
  }

  /// Returns the segment in which a row is found at `at`.
  ///
  /// Hot path.
  MemorySegment in(int row) {
    return Addresses.in(chunks[row >>> shift]);
  }

  /// Hot path.
  long at(int row) {
    return starts[row >>> shift] + (long) (row & ((1 << shift) - 1)) * rowBytes;
  }

  /// Hot path.
  long key(int row) {
    return in(row).get(JAVA_LONG_UNALIGNED, at(row));
  }

  int step(int row) {
    return in(row).get(JAVA_INT, at(row) + STEP_AT);
  }

  boolean isUsed(int row) {
    return (in(row).get(JAVA_INT, at(row) + STATE_AT) & USED) != 0;
  }

  /// Returns the step of the last recorded pull; 0 = none.
  int pulled(int row) {
    return in(row).get(JAVA_INT, at(row) + STATE_AT) >>> 1;
  }

  void pull(int row, int step) {
    in(row).set(JAVA_INT, at(row) + STATE_AT, step << 1 | USED);
  }

  /// Allocates a row for this key and returns its number. Its values and slots are undefined.
  /// Throws `MemoryBudgetException`.
  int allocate(long key, int step) {
    int row = firstFree;
    if (row >= 0) {
      firstFree = (int) key(row);
    } else {
      if (end >>> shift == segments.size()) {
        addChunk();
      }
      row = end++;
    }
    MemorySegment in = in(row);
    long at = at(row);
    in.set(JAVA_LONG_UNALIGNED, at, key);
    in.set(JAVA_INT, at + STEP_AT, step);
    in.set(JAVA_INT, at + STATE_AT, USED);
    used++;
    return row;
  }

  private void addChunk() {
    if (end > Integer.MAX_VALUE - (1 << shift) - 1) {
      throw new MemoryBudgetException(
          owner + " has " + used + " rows, the maximum of a shard; use more shards");
    }
    budget.reserve(owner, chunkBytes());
    MemorySegment chunk = arena.allocate(chunkBytes(), Long.BYTES);
    int number = segments.size();
    segments.add(chunk);
    if (number == chunks.length) {
      chunks = Arrays.copyOf(chunks, number * 2);
      starts = Arrays.copyOf(starts, number * 2);
    }
    chunks[number] = chunk;
    starts[number] = Addresses.at(chunk);
  }

  void free(int row) {
    MemorySegment in = in(row);
    long at = at(row);
    in.set(JAVA_LONG_UNALIGNED, at, firstFree);
    in.set(JAVA_INT, at + STATE_AT, 0);
    firstFree = row;
    used--;
  }

  /// Copies a few floats of each of some rows to `to`, row after row.
  ///
  /// Hot path.
  ///
  /// @param offset of the first float in a row, in floats after its head
  /// @param width floats of each row
  void gather(int[] rows, int first, int count, int offset, float[] to, int width) {
    long skip = HEAD_BYTES + (long) offset * Float.BYTES;
    if (width == 1) {
      int start = rows[first];
      if (isRun(rows, first, count)) {
        MemorySegment in = in(start);
        long at = at(start) + skip;
        for (int i = 0; i < count; i++) {
          to[i] = in.get(JAVA_FLOAT_UNALIGNED, at + (long) i * rowBytes);
        }
        return;
      }
      for (int i = 0; i < count; i++) {
        int row = rows[first + i];
        to[i] = in(row).get(JAVA_FLOAT_UNALIGNED, at(row) + skip);
      }
    } else {
      for (int i = 0; i < count; i++) {
        int row = rows[first + i];
        MemorySegment in = in(row);
        long at = at(row) + skip;
        for (int j = 0; j < width; j++) {
          to[i * width + j] = in.get(JAVA_FLOAT_UNALIGNED, at + (long) j * Float.BYTES);
        }
      }
    }
  }

  /// Copies floats from `from` into rows, in reverse to `gather`.
  ///
  /// Hot path.
  void scatter(float[] from, int[] rows, int first, int count, int offset, int width) {
    long skip = HEAD_BYTES + (long) offset * Float.BYTES;
    if (width == 1) {
      int start = rows[first];
      if (isRun(rows, first, count)) {
        MemorySegment in = in(start);
        long at = at(start) + skip;
        for (int i = 0; i < count; i++) {
          in.set(JAVA_FLOAT_UNALIGNED, at + (long) i * rowBytes, from[i]);
        }
        return;
      }
      for (int i = 0; i < count; i++) {
        int row = rows[first + i];
        in(row).set(JAVA_FLOAT_UNALIGNED, at(row) + skip, from[i]);
      }
    } else {
      for (int i = 0; i < count; i++) {
        int row = rows[first + i];
        MemorySegment in = in(row);
        long at = at(row) + skip;
        for (int j = 0; j < width; j++) {
          in.set(JAVA_FLOAT_UNALIGNED, at + (long) j * Float.BYTES, from[i * width + j]);
        }
      }
    }
  }

  /// Sets the step of the rows' last update.
  ///
  /// Hot path.
  void use(int[] rows, int first, int count, int step) {
    int start = rows[first];
    if (isRun(rows, first, count)) {
      MemorySegment in = in(start);
      long at = at(start) + STEP_AT;
      for (int i = 0; i < count; i++) {
        in.set(JAVA_INT_UNALIGNED, at + (long) i * rowBytes, step);
      }
      return;
    }
    for (int i = 0; i < count; i++) {
      int row = rows[first + i];
      in(row).set(JAVA_INT, at(row) + STEP_AT, step);
    }
  }

  /// Returns whether rows with ascending numbers are contiguous in one chunk. This holds if rows
  /// are used in the order of their creation.
  private boolean isRun(int[] rows, int first, int count) {
    int start = rows[first];
    if (rows[first + count - 1] - start != count - 1
        || start >>> shift != (start + count - 1) >>> shift) {
      return false;
    }
    int broken = 0;
    for (int i = 0; i < count; i++) {
      broken |= rows[first + i] ^ (start + i);
    }
    return broken == 0;
  }

  /// Copies the first `bytes` of a row's values to `into`.
  ///
  /// Hot path.
  void copyOut(int row, MemorySegment into, long offset, long bytes) {
    MemorySegment.copy(in(row), at(row) + HEAD_BYTES, into, offset, bytes);
  }

  /// Replaces the values and slots of a row.
  void copyIn(int row, MemorySegment from, long offset) {
    MemorySegment.copy(from, offset, in(row), at(row) + HEAD_BYTES, rowBytes - HEAD_BYTES);
  }

  /// Returns the values and slots of a row, read-only.
  MemorySegment floats(int row, int count) {
    return chunks[row >>> shift]
        .asSlice(
            (long) (row & ((1 << shift) - 1)) * rowBytes + HEAD_BYTES, (long) count * Float.BYTES)
        .asReadOnly();
  }

  /// Copies a whole row to `into`.
  void write(int row, MemorySegment into, long offset) {
    MemorySegment.copy(in(row), JAVA_BYTE, at(row), into, JAVA_BYTE, offset, rowBytes);
  }

  /// Copies a row written by `write` into a row, except for its key.
  void read(int row, MemorySegment from, long offset) {
    MemorySegment.copy(
        from,
        JAVA_BYTE,
        offset + Long.BYTES,
        in(row),
        JAVA_BYTE,
        at(row) + Long.BYTES,
        rowBytes - Long.BYTES);
  }

  /// Returns the key of a row written by `write`.
  static long writtenKey(MemorySegment from, long offset) {
    return from.get(JAVA_LONG_UNALIGNED, offset);
  }

  /// Returns the step of the last update of a row written by `write`.
  static int writtenStep(MemorySegment from, long offset) {
    return from.get(JAVA_INT_UNALIGNED, offset + STEP_AT);
  }

  /// Returns the step of the last pull of a row written by `write`.
  static int writtenPull(MemorySegment from, long offset) {
    return from.get(JAVA_INT_UNALIGNED, offset + STATE_AT) >>> 1;
  }

  /// Removes the step of the last pull from a row written by `write`, because the recipient counts
  /// pulls anew.
  static void withoutPull(MemorySegment written, long offset) {
    written.set(JAVA_INT_UNALIGNED, offset + STATE_AT, USED);
  }

  /// Returns the number of rows in these bytes. Throws `IllegalArgumentException` if they are not
  /// rows of this length.
  int countWritten(MemorySegment rows) {
    if (rows.byteSize() % rowBytes != 0) {
      throw new IllegalArgumentException(
          "%d bytes are not rows of %d bytes; is its rule another one?"
              .formatted(rows.byteSize(), rowBytes));
    }
    return Math.toIntExact(rows.byteSize() / rowBytes);
  }

  /// Throws `IllegalArgumentException` unless the bytes may be rows written by `write`, without
  /// pulls.
  void checkWritten(MemorySegment from, long offset, int count) {
    long bytes = (long) count * rowBytes;
    if (offset < 0 || count < 0 || bytes > from.byteSize() - offset) {
      throw new IllegalArgumentException(
          "%s: %d rows are %d bytes, but there are %d from offset %d on"
              .formatted(owner, count, bytes, from.byteSize() - offset, offset));
    }
    for (int i = 0; i < count; i++) {
      if (from.get(JAVA_INT_UNALIGNED, offset + (long) i * rowBytes + STATE_AT) != USED) {
        throw new IllegalArgumentException(
            "%s: the bytes of row %d of %d, of %d bytes, are not a row"
                .formatted(owner, i, count, rowBytes));
      }
    }
  }

  @Override
  public void close() {
    budget.release(bytes());
    arena.close();
  }
}
