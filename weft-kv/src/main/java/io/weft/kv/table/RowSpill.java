// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import io.weft.kv.spill.RowStore;
import io.weft.kv.spill.RowStoreException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Which rows of a table are in memory and which in a store: rows that were not used for long are
/// written to the store when others need room, and come back when they are asked for. A row that
/// came back stays in the store until it is written there again, or is removed; what is in memory
/// counts. One thread.
///
/// The rows that go are found by second chance: a hand goes round the places of rows, and takes
/// those that were not used since it was there last.
final class RowSpill implements AutoCloseable {

  /// What a row takes in the index and here, at most.
  private static final int EXTRA_BYTES = 15;

  private static final Logger LOG = LoggerFactory.getLogger(RowSpill.class);
  private static final int BUFFER_BYTES = 1 << 20;
  private static final int MOST_ROWS = 256;

  // What is known of a place of rows; 0 = there is no row.
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

  /// Rows in the store alone, and all rows that it has.
  private long spilled;

  private long stored;
  private long returned;
  private @Nullable String refusal;

  /// What the table does to rows that come and go.
  interface Places {

    /// A row of a key comes back, to be filled.
    int place(long key, long hash);

    /// A row leaves memory.
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

  /// Rows that are not in memory.
  long spilled() {
    return spilled;
  }

  /// How often a row came back.
  long returned() {
    return returned;
  }

  long diskBytes() {
    return store.diskBytes();
  }

  /// Rows that are carried at once.
  int batch() {
    return batch;
  }

  /// Rows of which a part of a request should have no more.
  int mostAtOnce() {
    return Math.max(batch, limit / 2);
  }

  // --- the rows of a request

  /// Rows stay in memory until `used`; those that are -1 are none.
  void pin(int[] rows, int count) {
    noneLeft = false;
    for (int i = 0; i < count; i++) {
      if (rows[i] >= 0) {
        flags[rows[i]] |= PINNED;
      }
    }
    ensureRoom(0); // a request before may have had more rows than there is room for
  }

  /// Rows were used, and may go again.
  void used(int[] rows, int count) {
    for (int i = 0; i < count; i++) {
      if (rows[i] >= 0) {
        flags[rows[i]] = (byte) ((flags[rows[i]] & ~PINNED) | USED);
      }
    }
  }

  /// All rows may go again, after a failure.
  void unpin() {
    for (int i = 0; i < flags.length; i++) {
      flags[i] &= ~PINNED;
    }
  }

  /// A row was made, and stays until `used`.
  void made(int row) {
    flags[row] = HERE | PINNED | USED;
  }

  /// A row is changed.
  void changed(int row) {
    flags[row] &= ~CLEAN;
  }

  /// Rows are changed; those that are -1 are none.
  void changed(int[] rows, int first, int count) {
    for (int i = first; i < first + count; i++) {
      if (rows[i] >= 0) {
        changed(rows[i]);
      }
    }
  }

  /// Brings back the rows of keys that have none in memory, `rows` of which is -1, as far as the
  /// store has them.
  void bring(long[] keys, int[] rows, int count) {
    if (spilled == 0) {
      return;
    }
    int n = 0;
    for (int i = 0; i < count; i++) { // to the end: a key may be asked for twice
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
    int row = index.find(key, hash); // the key may be asked for twice
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

  /// Writes rows to the store, so that one more finds room. Throws `RowStoreException` where the
  /// store takes none.
  void ensureRoomForNew() {
    ensureRoom(1);
    if (refusal != null && memory.used() >= limit) {
      throw new RowStoreException(
          owner + " has no room in memory for more rows, and none can leave it: " + refusal);
    }
  }

  /// Writes rows to the store, so that as many others find room. Where the store takes none, memory
  /// grows by rows that come back, as far as its budget goes.
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

  /// Chooses rows that go, and pins them.
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

  /// Writes those that were chosen, and frees their places; whether the store took them.
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
        LOG.warn("{}: no rows can leave memory: {}", owner, failed.getMessage());
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

  // --- rows that go for good

  /// The row at this place shall leave the table: takes it out of the store, if it is there.
  void remove(int row, long key) {
    if ((flags[row] & STORED) != 0) {
      asked[0] = key;
      store.remove(asked, 1);
      stored--;
    }
  }

  /// The place is free.
  void removed(int row) {
    flags[row] = 0;
  }

  /// Which rows of the store go.
  interface Going {
    boolean goes(MemorySegment in, long at);
  }

  /// Begins to evict rows of the store.
  void beginEviction() {
    evictFrom = Long.MIN_VALUE;
  }

  /// Evicts rows among the next ones of the store that are not in memory.
  ///
  /// @param from where the next part begins, if there is one
  /// @param gone hears their keys
  Sweep evict(long from, int most, Going which, LongConsumer gone) {
    int count = 0;
    int looked = 0;
    while (looked < most) {
      int n = store.scan(evictFrom, rows(Math.min(batch, most - looked)));
      int old = 0;
      long last = Long.MAX_VALUE;
      for (int i = 0; i < n; i++) {
        long at = (long) i * rowBytes;
        last = key(incoming, at);
        if (which.goes(incoming, at) && index.find(last, KeyHash.of(last)) < 0) {
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
        return new Sweep(-1, count);
      }
      evictFrom = last + 1;
    }
    return new Sweep(from, count);
  }

  private MemorySegment rows(int count) {
    return incoming.asSlice(0, (long) count * rowBytes);
  }

  // --- all rows

  /// Shows all rows: those in memory, of which none leaves meanwhile, then the others as they were
  /// at the beginning. So each comes once, also where `visitor` changes it, by which it comes back.
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
        int unused =
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

  /// Values and slots.
  private MemorySegment row(MemorySegment in, long at) {
    return in.asSlice(at + RowMemory.HEAD_BYTES, rowBytes - RowMemory.HEAD_BYTES).asReadOnly();
  }

  /// The rows that are in the store alone, as they are now.
  Frozen freeze() {
    return new Frozen(stored > 0 ? store.view() : null);
  }

  /// What is in the store alone at one moment.
  final class Frozen implements AutoCloseable {
    private final RowStore.@Nullable View view;
    private final KeyIndex inMemory = new KeyIndex();
    private boolean done;

    private Frozen(RowStore.@Nullable View view) {
      this.view = view;
      done = view == null;
    }

    /// A row that was in memory then is about to change or to go.
    ///
    /// Hot path.
    void passed(int row) {
      if ((flags[row] & STORED) != 0 && inMemory.find(memory.key(row)) < 0) {
        int unused = inMemory.add(memory.key(row));
      }
    }

    /// Shows the next rows, at most so many, when all that were in memory have passed; how many
    /// were shown. `isDone` says whether there are more.
    int next(int most, int since, RowSink sink) {
      return next(rows(Math.min(batch, most)), since, sink);
    }

    private int next(MemorySegment buffer, int since, RowSink sink) {
      int shown = 0;
      int n = view == null ? 0 : view.next(buffer);
      for (int i = 0; i < n; i++) {
        long at = (long) i * rowBytes;
        if (step(buffer, at) >= since && inMemory.find(key(buffer, at)) < 0) {
          RowMemory.withoutPull(buffer, at);
          sink.row(buffer, at, rowBytes);
          shown++;
        }
      }
      done = n == 0;
      return shown;
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
