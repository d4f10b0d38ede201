// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import io.weft.kv.spec.TableSpec;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/// The keys of a request about values of any length that belong to one shard, ascending, with their
/// positions in the request. Pure.
final class ValueSlice {

  private final int shard;
  private final long[] keys;
  private final int[] positions;

  private ValueSlice(int shard, long[] keys, int[] positions) {
    this.shard = shard;
    this.keys = keys;
    this.positions = positions;
  }

  /// Returns one slice for each shard. Throws `IllegalArgumentException` for a repeated key.
  static List<ValueSlice> cut(TableSpec spec, long[] keys, int shards) {
    List<List<Integer>> byShard = new ArrayList<>();
    for (int shard = 0; shard < shards; shard++) {
      byShard.add(new ArrayList<>());
    }
    for (int i = 0; i < keys.length; i++) {
      int shard = shards == 1 ? 0 : spec.slicer().shard(keys[i], shards);
      if (shard < 0 || shard >= shards) {
        throw new IllegalArgumentException(
            "slicer %s puts key %d into shard %d of %d"
                .formatted(spec.slicer().text(), keys[i], shard, shards));
      }
      byShard.get(shard).add(i);
    }
    List<ValueSlice> slices = new ArrayList<>();
    for (int shard = 0; shard < shards; shard++) {
      byShard.get(shard).sort(Comparator.comparingLong(i -> keys[i]));
      int[] positions = byShard.get(shard).stream().mapToInt(i -> i).toArray();
      long[] mine = Arrays.stream(positions).mapToLong(i -> keys[i]).toArray();
      for (int i = 1; i < mine.length; i++) {
        if (mine[i] == mine[i - 1]) {
          throw new IllegalArgumentException(
              "table '%s': key %d is there twice; values of any length need each key once"
                  .formatted(spec.name(), mine[i]));
        }
      }
      slices.add(new ValueSlice(shard, mine, positions));
    }
    return slices;
  }

  int shard() {
    return shard;
  }

  int count() {
    return keys.length;
  }

  long[] keys() {
    return keys;
  }

  /// Returns the position of a key of the slice in the request.
  int position(int at) {
    return positions[at];
  }

  /// Returns the offsets and lengths of the values in the request's memory.
  Layout layout(int[] allLengths) {
    long[] starts = new long[allLengths.length];
    for (int i = 1; i < starts.length; i++) {
      starts[i] = starts[i - 1] + allLengths[i - 1];
    }
    int[] lengths = new int[keys.length];
    long[] mine = new long[keys.length];
    long floats = 0;
    for (int i = 0; i < lengths.length; i++) {
      lengths[i] = allLengths[positions[i]];
      mine[i] = starts[positions[i]];
      floats += lengths[i];
    }
    return new Layout(lengths, mine, floats);
  }

  static final class Layout {
    private final int[] lengths;
    private final long[] starts;
    private final long floats;

    private Layout(int[] lengths, long[] starts, long floats) {
      this.lengths = lengths;
      this.starts = starts;
      this.floats = floats;
    }

    int[] lengths() {
      return lengths;
    }

    /// Returns the number of floats of all values of the slice.
    long floats() {
      return floats;
    }

    /// Copies the slice's values out of those of the request, contiguously.
    void gather(MemorySegment all, MemorySegment into) {
      long at = 0;
      for (int i = 0; i < lengths.length; i++) {
        long bytes = (long) Float.BYTES * lengths[i];
        MemorySegment.copy(all, Float.BYTES * starts[i], into, at, bytes);
        at += bytes;
      }
    }

    /// Copies the slice's values to their offsets in the request.
    void scatter(MemorySegment from, MemorySegment all) {
      long at = 0;
      for (int i = 0; i < lengths.length; i++) {
        long bytes = (long) Float.BYTES * lengths[i];
        MemorySegment.copy(from, at, all, Float.BYTES * starts[i], bytes);
        at += bytes;
      }
    }
  }
}
