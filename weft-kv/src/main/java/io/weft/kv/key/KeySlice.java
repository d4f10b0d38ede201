// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.key;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The keys of a list that belong to one shard, ascending and distinct. Any thread.
public final class KeySlice {

  private final int shard;
  private final MemorySegment keys;
  private final int count;
  private final KeyDigest digest;
  private final int first;
  private final int @Nullable [] positions;
  private final int @Nullable [] slots;
  private volatile boolean known;

  /// @param first position of the first key in the list, if the keys are consecutive there
  /// @param positions the positions of the keys in the list, and `slots` their indices in this
  ///   slice; null if the keys are consecutive
  KeySlice(
      int shard,
      MemorySegment keys,
      int first,
      int @Nullable [] positions,
      int @Nullable [] slots) {
    this.shard = shard;
    this.keys = keys;
    this.count = (int) (keys.byteSize() / Long.BYTES);
    this.digest = count < KeyList.LEAST_KEPT ? KeyDigest.NONE : KeyDigest.of(keys, count);
    this.first = first;
    this.positions = positions;
    this.slots = slots;
  }

  /// Returns the shard of these keys.
  public int shard() {
    return shard;
  }

  /// Returns the keys in native memory, 64 bits each.
  public MemorySegment keys() {
    return keys;
  }

  /// Returns the number of keys.
  public int count() {
    return count;
  }

  /// Returns the digest of the keys, or `NONE` if they are too few to be kept.
  public KeyDigest digest() {
    return digest;
  }

  /// Returns whether the shard should keep the keys.
  public boolean isKept() {
    return count >= KeyList.LEAST_KEPT;
  }

  /// Returns whether the shard has confirmed that it has the keys.
  public boolean isKnown() {
    return known;
  }

  /// Records whether the shard has the keys.
  public void known(boolean is) {
    known = is;
  }

  /// Returns whether the caller's memory contains the values of these keys contiguously in this
  /// order.
  public boolean isDirect() {
    return positions == null;
  }

  /// Returns the values of this slice within those of the list, if the slice is direct.
  public MemorySegment direct(MemorySegment values, long rowBytes) {
    return values.asSlice(first * rowBytes, count * rowBytes);
  }

  /// Returns whether the list repeats a key of this slice.
  public boolean hasTwice() {
    int[] all = positions;
    return all != null && all.length > count;
  }

  /// Returns the key at a position.
  public long key(int place) {
    return keys.get(JAVA_LONG_UNALIGNED, (long) Long.BYTES * place);
  }

  /// Copies the rows of this slice out of those of the list. Rows of a repeated key are summed.
  public void gather(MemorySegment values, int width, MemorySegment into) {
    int[] from = positions;
    int[] to = slots;
    if (from == null || to == null) {
      MemorySegment.copy(direct(values, 4L * width), 0, into, 0, 4L * width * count);
      return;
    }
    boolean[] there = new boolean[count];
    for (int i = 0; i < from.length; i++) {
      if (there[to[i]]) {
        Rows.add(values, 4L * width * from[i], into, 4L * width * to[i], width);
      } else {
        Rows.copy(values, 4L * width * from[i], into, 4L * width * to[i], width);
        there[to[i]] = true;
      }
    }
  }

  /// Copies the rows of this slice to their positions in the list.
  public void scatter(MemorySegment rows, int width, MemorySegment into) {
    int[] to = positions;
    int[] from = slots;
    if (to == null || from == null) {
      MemorySegment.copy(rows, 0, into, 4L * width * first, 4L * width * count);
      return;
    }
    for (int i = 0; i < to.length; i++) {
      Rows.copy(rows, 4L * width * from[i], into, 4L * width * to[i], width);
    }
  }

  /// Gathers FLOAT16 rows, as `gather` does FLOAT32 rows.
  public void gatherHalves(MemorySegment values, int width, MemorySegment into) {
    int[] from = positions;
    int[] to = slots;
    if (from == null || to == null) {
      MemorySegment.copy(direct(values, 2L * width), 0, into, 0, 2L * width * count);
      return;
    }
    boolean[] there = new boolean[count];
    for (int i = 0; i < from.length; i++) {
      if (there[to[i]]) {
        Rows.addHalves(values, 2L * width * from[i], into, 2L * width * to[i], width);
      } else {
        Rows.copyHalves(values, 2L * width * from[i], into, 2L * width * to[i], width);
        there[to[i]] = true;
      }
    }
  }

  /// Scatters FLOAT16 rows, as `scatter` does FLOAT32 rows.
  public void scatterHalves(MemorySegment rows, int width, MemorySegment into) {
    int[] to = positions;
    int[] from = slots;
    if (to == null || from == null) {
      MemorySegment.copy(rows, 0, into, 2L * width * first, 2L * width * count);
      return;
    }
    for (int i = 0; i < to.length; i++) {
      Rows.copyHalves(rows, 2L * width * from[i], into, 2L * width * to[i], width);
    }
  }
}
