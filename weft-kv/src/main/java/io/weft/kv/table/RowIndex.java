// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The index from keys to rows: open addressing with linear probing, in native memory. An entry is
/// 8 bytes: 32 bits of the key's hash and the row's number plus 1, or 0. The key itself is stored
/// in the row, which is read if the hash bits match. Growth therefore reads only entries.
///
/// The index is cut into 1,024 partitions by other bits of the hash. Each grows separately, by a
/// quarter, when it is three quarters full, so that a growth step moves at most about a thousandth
/// of the index. One thread.
final class RowIndex implements AutoCloseable {

  private static final int PARTITION_BITS = 10;
  private static final int PARTITIONS = 1 << PARTITION_BITS;
  private static final int ENTRY_BYTES = Long.BYTES;
  private static final int LEAST_ENTRIES = 8;
  private static final long LOW = 0xFFFFFFFFL;

  private final String owner;
  private final MemoryBudget budget;
  private final RowMemory rows;
  private final Arena empty = Arena.ofConfined();
  private final @Nullable Arena[] arenas = new Arena[PARTITIONS];
  private final MemorySegment[] memory = new MemorySegment[PARTITIONS];
  private final long[] start = new long[PARTITIONS];
  private final int[] capacity = new int[PARTITIONS];
  private final int[] used = new int[PARTITIONS];
  private long entries;

  RowIndex(String owner, MemoryBudget budget, RowMemory rows) {
    this.owner = owner;
    this.budget = budget;
    this.rows = rows;
    // The entry of an empty partition. It stays 0, so that every search ends there.
    MemorySegment none = empty.allocate(ENTRY_BYTES, ENTRY_BYTES);
    Arrays.fill(memory, none);
    Arrays.fill(start, Addresses.at(none));
  }

  RowMemory rows() {
    return rows;
  }

  private static int partition(long hash) {
    return (int) (hash >>> (Long.SIZE - PARTITION_BITS));
  }

  private int home(long hash, int partition) {
    return (int) (((hash & LOW) * capacity[partition]) >>> 32);
  }

  private long entry(int partition, int position) {
    return Addresses.in(memory[partition])
        .get(JAVA_LONG, start[partition] + (long) position * ENTRY_BYTES);
  }

  private void put(int partition, int position, long entry) {
    Addresses.in(memory[partition])
        .set(JAVA_LONG, start[partition] + (long) position * ENTRY_BYTES, entry);
  }

  /// Returns the entry at which the search for a hash begins. Callers read it well before they call
  /// `find`, so that the processor fetches many entries concurrently.
  ///
  /// Hot path.
  long first(long hash) {
    int partition = partition(hash);
    return entry(partition, home(hash, partition));
  }

  /// Returns the row of a key, or -1.
  ///
  /// Hot path.
  int find(long key, long hash) {
    int partition = partition(hash);
    int position = position(partition, key, hash);
    return position < 0 ? -1 : (int) entry(partition, position) - 1;
  }

  private int position(int partition, long key, long hash) {
    int position = home(hash, partition);
    while (true) {
      long entry = entry(partition, position);
      if (entry == 0) {
        return -1;
      }
      if (entry >>> 32 == (hash & LOW) && rows.key((int) entry - 1) == key) {
        return position;
      }
      position = position + 1 < capacity[partition] ? position + 1 : 0;
    }
  }

  /// Makes room for one more key of this hash, so that `insert` allocates no memory. Throws
  /// `MemoryBudgetException`.
  void ensureRoom(long hash) {
    int partition = partition(hash);
    if ((used[partition] + 1) * 4L > capacity[partition] * 3L) {
      grow(partition);
    }
  }

  /// Adds a key that is not in the index. There must be room for it.
  void insert(long hash, int row) {
    int partition = partition(hash);
    place(partition, (hash << 32) | (row + 1));
    used[partition]++;
  }

  private void place(int partition, long entry) {
    int position = home(entry >>> 32, partition);
    while (entry(partition, position) != 0) {
      position = position + 1 < capacity[partition] ? position + 1 : 0;
    }
    put(partition, position, entry);
  }

  private void grow(int partition) {
    int before = capacity[partition];
    int after = Math.max(LEAST_ENTRIES, Math.addExact(before, Math.max(2, before >> 2)));
    long more = (long) (after - before) * ENTRY_BYTES;
    budget.reserve(owner, more);
    MemorySegment old = memory[partition];
    long oldStart = start[partition];
    Arena oldArena = arenas[partition];
    Arena arena = Arena.ofConfined();
    MemorySegment entriesAfter = arena.allocate((long) after * ENTRY_BYTES, ENTRY_BYTES);
    arenas[partition] = arena;
    memory[partition] = entriesAfter;
    start[partition] = Addresses.at(entriesAfter);
    capacity[partition] = after;
    entries += after - before;
    for (int i = 0; i < before; i++) {
      long entry = Addresses.in(old).get(JAVA_LONG, oldStart + (long) i * ENTRY_BYTES);
      if (entry != 0) {
        place(partition, entry);
      }
    }
    if (oldArena != null) {
      oldArena.close();
    }
  }

  /// Removes a key if it exists. Later entries move up, so that no search ends early.
  void remove(long key, long hash) {
    int partition = partition(hash);
    int hole = position(partition, key, hash);
    if (hole < 0) {
      return;
    }
    int length = capacity[partition];
    int next = hole;
    while (true) {
      next = next + 1 < length ? next + 1 : 0;
      long entry = entry(partition, next);
      if (entry == 0) {
        break;
      }
      int home = home(entry >>> 32, partition);
      if (Math.floorMod(next - home, length) >= Math.floorMod(next - hole, length)) {
        put(partition, hole, entry);
        hole = next;
      }
    }
    put(partition, hole, 0);
    used[partition]--;
  }

  long bytes() {
    return entries * ENTRY_BYTES;
  }

  @Override
  public void close() {
    budget.release(bytes());
    for (Arena arena : arenas) {
      if (arena != null) {
        arena.close();
      }
    }
    empty.close();
  }
}
