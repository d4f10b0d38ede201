// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.key;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.weft.kv.spec.Slicer;
import io.weft.kv.spec.TableSpec;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/// A list of keys in any order, possibly with repetitions, cut by shard once for all pushes and
/// pulls that use it. Belongs to the table that created it. Any thread.
public final class KeyList {

  /// The minimum length of a list that a shard keeps. Shorter lists are sent with each request,
  /// because they are hardly longer than their digest.
  static final int LEAST_KEPT = 16;

  private final TableSpec table;
  private final long[] keys;
  private final List<KeySlice> slices;

  private KeyList(TableSpec table, long[] keys, List<KeySlice> slices) {
    this.table = table;
    this.keys = keys;
    this.slices = slices;
  }

  /// The shards that get a slice.
  public enum Slices {
    /// The shards that have keys of the list.
    WITH_KEYS,
    /// All shards, because each must count the push even without keys.
    OF_ALL
  }

  /// Copies these keys and cuts them by shard. Sorts a slice that is not ascending. Pure.
  public static KeyList cut(long[] keys, TableSpec table, int shards, Slices which) {
    Objects.requireNonNull(which, "which");
    Slicer slicer = table.slicer();
    boolean every = which == Slices.OF_ALL;
    long[] own = keys.clone();
    int[] shardOf = new int[own.length];
    int[] counts = new int[shards];
    for (int i = 0; i < own.length; i++) {
      shardOf[i] = shards == 1 ? 0 : slicer.shard(own[i], shards);
      if (shardOf[i] < 0 || shardOf[i] >= shards) {
        throw new IllegalArgumentException(
            "slicer %s puts key %d into shard %d of %d"
                .formatted(slicer.text(), own[i], shardOf[i], shards));
      }
      counts[shardOf[i]]++;
    }
    int[][] positions = new int[shards][];
    for (int shard = 0; shard < shards; shard++) {
      positions[shard] = new int[counts[shard]];
    }
    int[] filled = new int[shards];
    for (int i = 0; i < own.length; i++) {
      positions[shardOf[i]][filled[shardOf[i]]++] = i;
    }
    List<KeySlice> slices = new ArrayList<>();
    for (int shard = 0; shard < shards; shard++) {
      if (counts[shard] > 0 || every) {
        slices.add(slice(shard, own, positions[shard]));
      }
    }
    return new KeyList(table, own, List.copyOf(slices));
  }

  private static KeySlice slice(int shard, long[] all, int[] positions) {
    long[] mine = new long[positions.length];
    boolean ascending = true;
    for (int i = 0; i < mine.length; i++) {
      mine[i] = all[positions[i]];
      ascending &= i == 0 || mine[i - 1] < mine[i];
    }
    int count = mine.length;
    if (ascending && (count == 0 || positions[count - 1] - positions[0] == count - 1)) {
      return new KeySlice(shard, memory(mine, count), count == 0 ? 0 : positions[0], null, null);
    }
    long[] sorted = mine.clone();
    Arrays.sort(sorted);
    int distinct = 0;
    for (int i = 0; i < count; i++) {
      if (i == 0 || sorted[i] != sorted[i - 1]) {
        sorted[distinct++] = sorted[i];
      }
    }
    int[] slots = new int[count];
    for (int i = 0; i < count; i++) {
      slots[i] = Arrays.binarySearch(sorted, 0, distinct, mine[i]);
    }
    return new KeySlice(shard, memory(sorted, distinct), 0, positions, slots);
  }

  private static MemorySegment memory(long[] keys, int count) {
    MemorySegment memory = Arena.ofAuto().allocate(8L * Math.max(1, count), 64);
    MemorySegment.copy(keys, 0, memory, JAVA_LONG, 0, count);
    return memory.asSlice(0, 8L * count);
  }

  /// Returns the table whose shards these keys are cut for.
  public TableSpec table() {
    return table;
  }

  /// Returns the number of keys, including repetitions.
  public int size() {
    return keys.length;
  }

  /// Returns the key at a position.
  public long key(int place) {
    return keys[place];
  }

  /// Returns whether this list has these keys in this order.
  public boolean isOf(long[] others) {
    Objects.requireNonNull(others, "others");
    return Arrays.equals(keys, others);
  }

  /// Returns the slices by shard, ascending.
  public List<KeySlice> slices() {
    return slices;
  }
}
