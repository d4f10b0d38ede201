// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import io.weft.kv.spec.TableStatistics;
import io.weft.kv.spill.RowStore;
import io.weft.kv.spill.RowStoreException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The division of a table's rows between memory and a store. Rows that have not been used for long
/// are written to the store when other rows need room, and are loaded when they are used. A loaded
/// row stays in the store until it is written again or removed. The version in memory is the valid
/// one. One thread.
///
/// Rows to write are selected by second chance: a hand circles over the places of rows and selects
/// the rows that were not used since its last visit.
final class RowSpill implements AutoCloseable {

  /// The maximum bytes per row in the index and in this class.
  private static final int EXTRA_BYTES = 15;

  private static final Logger LOG = LoggerFactory.getLogger(RowSpill.class);
  private static final int BUFFER_BYTES = 1 << 20;
  private static final int MOST_ROWS = 256;

  // The flags of a place of rows; 0 = there is no row.
  private static final int HERE = 1;
  private static final int PINNED = 2;
  private static final int USED = 4;
  private static final int STORED = 8;
  private static final int CLEAN = 16;

  private final String owner;
  private final MemoryBudget budget;
  private final RowMemory memory;
  private final RowIndex index;
  private final RowStore store;
  private final Places places;
  private final int rowBytes;
  private final int limit;
  private final int batch;
  private final Arena arena = Arena.ofConfined();
  private final MemorySegment incoming;
  private final MemorySegment outgoing;
  private final long[] asked;
  private final int[] askedAt;
  private final boolean[] found;
  private final int[] going;
  private byte[] flags = new byte[0];
  private int hand;
  private boolean noneLeft;
  private boolean holds;
  private long evictFrom;

  /// The number of rows that only the store has, and the number of all rows in the store.
  private long spilled;

  private long stored;
  private long returned;
  private @Nullable String refusal;

  /// The table's actions on rows that enter and leave memory.
  interface Places {

    /// Allocates a row for a key, which is then filled. Returns its number.
    int place(long key, long hash);

    /// Removes a row from memory.
    void leave(int row, long key, long hash);
  }

  RowSpill(Spilling spilling, String owner, MemoryBudget budget, RowIndex index, Places places) {
    this.owner = owner;
    this.budget = budget;
    this.memory = index.rows();
    this.index = index;
    this.store = spilling.store();
    this.places = places;
    rowBytes = memory.rowBytes();
    limit = Math.clamp(spilling.memoryBytes() / (rowBytes + EXTRA_BYTES), 1, 1 << 30);
    batch = Math.clamp(Math.min(BUFFER_BYTES / rowBytes, limit / 8), 1, MOST_ROWS);
    budget.reserve(owner, bufferBytes());
    incoming = arena.allocate((long) batch * rowBytes, Long.BYTES);
    outgoing = arena.allocate((long) batch * rowBytes, Long.BYTES);
    asked = new long[batch];
    askedAt = new int[batch];
    found = new boolean[batch];
    going = new int[batch];
  }

  private long bufferBytes() {
    return 2L * batch * rowBytes;
  }

  long bytes() {
    return bufferBytes() + flags.length;
  }

  /// Returns the number of rows that are not in memory.
  long spilled() {
    return spilled;
  }

  TableStatistics.Spilled statistics() {
    return new TableStatistics.Spilled(spilled, returned, store.diskBytes());
  }

  /// Returns the maximum number of rows per read or write of the store.
  int batch() {
    return batch;
  }

  /// Returns the maximum number of rows that a part of a request should have.
  int mostAtOnce() {
    return Math.max(batch, limit / 2);
  }

  // --- the rows of a request

  /// Pins rows in memory until `used`. -1 stands for no row.
  void pin(int[] rows, int count) {
    noneLeft = false;
    for (int i = 0; i < count; i++) {
      if (rows[i] >= 0) {
        flags[rows[i]] |= PINNED;
      }
    }
    ensureRoom(0); // because the previous request may have used more rows than the limit
  }

  /// Marks rows as used and unpins them.
  void used(int[] rows, int count) {
    for (int i = 0; i < count; i++) {
      if (rows[i] >= 0) {
        flags[rows[i]] = (byte) ((flags[rows[i]] & ~PINNED) | USED);
      }
    }
  }

  /// Unpins all rows, after a failure.
  void unpin() {
    for (int i = 0; i < flags.length; i++) {
      flags[i] &= ~PINNED;
    }
  }

  /// Pins a new row until `used`.
  void made(int row) {
    flags[row] = HERE | PINNED | USED;
  }

  void changed(int row) {
    flags[row] &= ~CLEAN;
  }

  /// Records the change of rows. -1 stands for no row.
  void changed(int[] rows, int first, int count) {
    for (int i = first; i < first + count; i++) {
      if (rows[i] >= 0) {
        changed(rows[i]);
      }
    }
  }

  /// Loads the rows of keys that are not in memory, for which `rows` is -1, if the store has them.
  void bring(long[] keys, int[] rows, int count) {
    if (spilled == 0) {
      return;
    }
    int n = 0;
    for (int i = 0; i < count; i++) { // to the end, because a key may occur twice
      if (rows[i] < 0) {
        asked[n] = keys[i];
        askedAt[n++] = i;
        if (n == batch) {
          bringAsked(rows, n);
          n = 0;
        }
      }
    }
    if (n > 0) {
      bringAsked(rows, n);
    }
  }

  private void bringAsked(int[] rows, int n) {
    store.get(asked, n, incoming, found);
    int here = 0;
    for (int i = 0; i < n; i++) {
      here += found[i] ? 1 : 0;
    }
    ensureRoom(here);
    for (int i = 0; i < n; i++) {
      if (found[i]) {
        rows[askedAt[i]] = bring(asked[i], (long) i * rowBytes);
      }
    }
  }

  private int bring(long key, long at) {
    long hash = KeyHash.of(key);
    int row = index.find(key, hash); // because the key may occur twice
    if (row < 0) {
      row = places.place(key, hash);
      memory.read(row, incoming, at);
      flags[row] = HERE | PINNED | USED | STORED | CLEAN;
      spilled--;
      returned++;
    }
    return row;
  }

  // --- room

  /// Writes rows to the store to make room for a new one. Throws `RowStoreException` if the store
  /// accepts none.
  void ensureRoomForNew() {
    ensureRoom(1);
    if (refusal != null && memory.used() >= limit) {
      throw new RowStoreException(
          owner + " has no room in memory for more rows, and the store accepts none: " + refusal);
    }
  }

  /// Writes rows to the store to make room for `more` others. If the store accepts none, memory
  /// grows by loaded rows up to the limit of its budget.
  void ensureRoom(int more) {
    grow(memory.end() + more);
    long over = (long) memory.used() + more - limit;
    while (over > 0 && !noneLeft && !holds) {
      int n = select();
      if (n == 0 || !write(n)) {
        noneLeft = true; // until the next request
      }
      over -= n;
    }
  }

  private void grow(int end) {
    if (end > flags.length) {
      int length = Math.max(end, Math.addExact(flags.length, Math.max(64, flags.length >> 2)));
      budget.reserve(owner, length - flags.length);
      flags = Arrays.copyOf(flags, length);
    }
  }

  /// Selects rows to write and pins them. Returns their number.
  private int select() {
    int n = 0;
    int end = memory.end();
    for (long looked = 0; n < batch && looked < 2L * end; looked++) {
      hand = hand + 1 < end ? hand + 1 : 0;
      int it = flags[hand];
      if ((it & HERE) == 0 || (it & PINNED) != 0) {
        continue;
      }
      if ((it & USED) != 0) {
        flags[hand] &= ~USED;
      } else {
        flags[hand] |= PINNED;
        going[n++] = hand;
      }
    }
    return n;
  }

  /// Writes the selected rows and frees their places. Returns whether the store accepted them.
  private boolean write(int n) {
    int dirty = 0;
    for (int i = 0; i < n; i++) {
      if ((flags[going[i]] & CLEAN) == 0) {
        memory.write(going[i], outgoing, (long) dirty++ * rowBytes);
      }
    }
    boolean written = dirty == 0 || put(dirty);
    for (int i = 0; i < n; i++) {
      int row = going[i];
      if (written || (flags[row] & CLEAN) != 0) {
        leave(row);
      } else {
        flags[row] &= ~PINNED;
      }
    }
    return written;
  }

  private boolean put(int dirty) {
    try {
      store.put(outgoing, dirty);
      refusal = null;
      return true;
    } catch (RowStoreException failed) {
      if (refusal == null) {
        LOG.warn("{}: the store accepts no rows: {}", owner, failed.getMessage());
      }
      refusal = failed.getMessage();
      return false;
    }
  }

  private void leave(int row) {
    long key = memory.key(row);
    places.leave(row, key, KeyHash.of(key));
    stored += (flags[row] & STORED) == 0 ? 1 : 0;
    spilled++;
    flags[row] = 0;
  }

  // --- eviction

  /// Removes the row at this place, which is about to leave the table, from the store, if the store
  /// has it.
  void remove(int row, long key) {
    if ((flags[row] & STORED) != 0) {
      asked[0] = key;
      store.remove(asked, 1);
      stored--;
    }
  }

  /// Records that the place is free.
  void removed(int row) {
    flags[row] = 0;
  }

  /// Begins the eviction of rows of the store.
  void beginEviction() {
    evictFrom = Long.MIN_VALUE;
  }

  /// Evicts rows among the next rows of the store that are not in memory.
  ///
  /// @param from the `next` of the result if rows remain
  /// @param rows computes norms
  /// @param gone receives the keys of the evicted rows
  EvictionScan evict(long from, int most, Eviction which, RowTiles rows, LongConsumer gone) {
    int count = 0;
    int looked = 0;
    while (looked < most) {
      int n = store.scan(evictFrom, rows(Math.min(batch, most - looked)));
      int old = 0;
      long last = Long.MAX_VALUE;
      for (int i = 0; i < n; i++) {
        long at = (long) i * rowBytes;
        last = key(incoming, at);
        boolean evicts =
            which.evicts(
                RowMemory.writtenStep(incoming, at),
                RowMemory.writtenPull(incoming, at),
                () -> rows.norm(incoming, at));
        if (evicts && index.find(last, KeyHash.of(last)) < 0) {
          asked[old++] = last;
        }
      }
      if (old > 0) {
        store.remove(asked, old);
        spilled -= old;
        stored -= old;
        count += old;
        for (int i = 0; i < old; i++) {
          gone.accept(asked[i]);
        }
      }
      looked += n;
      if (last == Long.MAX_VALUE) {
        return new EvictionScan(-1, count);
      }
      evictFrom = last + 1;
    }
    return new EvictionScan(from, count);
  }

  private MemorySegment rows(int count) {
    return incoming.asSlice(0, (long) count * rowBytes);
  }

  // --- all rows

  /// Visits all rows: first the rows in memory, none of which leaves memory during this, then the
  /// other rows as of the beginning. Each row is thus visited once, even if `visitor` changes and
  /// thereby loads it.
  void forEach(RowVisitor visitor, int floats) {
    byte[] then = Arrays.copyOf(flags, memory.end());
    try (Frozen rest = freeze();
        Arena own = Arena.ofConfined()) {
      holds = true;
      for (int row = 0; row < then.length; row++) {
        if ((then[row] & HERE) != 0) {
          rest.passed(row);
          visitor.row(memory.key(row), memory.step(row), memory.floats(row, floats));
        }
      }
      holds = false;
      MemorySegment buffer = own.allocate((long) batch * rowBytes, Long.BYTES);
      while (!rest.isDone()) {
        rest.next(
            buffer, 0, (in, at, bytes) -> visitor.row(key(in, at), step(in, at), row(in, at)));
      }
    } finally {
      holds = false;
    }
  }

  private static long key(MemorySegment in, long at) {
    return RowMemory.writtenKey(in, at);
  }

  private static int step(MemorySegment in, long at) {
    return RowMemory.writtenStep(in, at);
  }

  private MemorySegment row(MemorySegment in, long at) {
    return in.asSlice(at + RowMemory.HEAD_BYTES, rowBytes - RowMemory.HEAD_BYTES).asReadOnly();
  }

  /// Returns a snapshot of the rows that only the store has.
  Frozen freeze() {
    return new Frozen(stored > 0 ? store.view() : null);
  }

  /// The rows that only the store had at one moment.
  final class Frozen implements AutoCloseable {
    private final RowStore.@Nullable View view;
    private final KeyIndex inMemory = new KeyIndex();
    private boolean done;

    private Frozen(RowStore.@Nullable View view) {
      this.view = view;
      done = view == null;
    }

    /// Records a row that was in memory at that moment and is about to change or to be removed.
    ///
    /// Hot path.
    void passed(int row) {
      if ((flags[row] & STORED) != 0 && inMemory.find(memory.key(row)) < 0) {
        int unused = inMemory.add(memory.key(row));
      }
    }

    /// Emits at most `most` of the next rows, after all rows that were in memory have passed.
    /// `isDone` tells whether rows remain.
    void next(int most, int since, TableSink sink) {
      next(rows(Math.min(batch, most)), since, sink);
    }

    private void next(MemorySegment buffer, int since, TableSink sink) {
      int n = view == null ? 0 : view.next(buffer);
      for (int i = 0; i < n; i++) {
        long at = (long) i * rowBytes;
        if (step(buffer, at) >= since && inMemory.find(key(buffer, at)) < 0) {
          RowMemory.withoutPull(buffer, at);
          sink.row(buffer, at, rowBytes);
        }
      }
      done = n == 0;
    }

    boolean isDone() {
      return done;
    }

    @Override
    public void close() {
      if (view != null) {
        view.close();
      }
    }
  }

  @Override
  public void close() {
    budget.release(bytes());
    store.close();
    arena.close();
  }
}
