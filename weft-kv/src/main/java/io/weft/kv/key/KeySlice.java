// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.key;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;

/// The keys of a list that one shard has: ascending, each once. Any thread.
public final class KeySlice {

  private final int shard;
  private final MemorySegment keys;
  private final int count;
  private final KeyDigest digest;
  private final int first;
  private final int @Nullable [] positions;
  private final int @Nullable [] slots;
  private volatile boolean known;

  /// @param first position of the first key in the list, where all follow one another in it
  /// @param positions where in the list, and `slots` as which key of this slice; null = they follow
  ///   one another
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

  /// Whose.
  public int shard() {
    return shard;
  }

  /// Native, 64 bits each.
  public MemorySegment keys() {
    return keys;
  }

  /// How many.
  public int count() {
    return count;
  }

  /// Their name; `NONE` where they are too few to be kept.
  public KeyDigest digest() {
    return digest;
  }

  /// Whether the shard should keep them.
  public boolean isKept() {
    return count >= KeyList.LEAST_KEPT;
  }

  /// Whether the shard has said that it has them.
  public boolean isKnown() {
    return known;
  }

  /// The shard has them, or has them no more.
  public void known(boolean is) {
    known = is;
  }

  /// Whether their values lie one behind the other, in this order, in the caller's memory.
  public boolean isDirect() {
    return positions == null;
  }

  /// The values of this slice within those of the list, where it is direct.
  public MemorySegment direct(MemorySegment values, long rowBytes) {
    return values.asSlice(first * rowBytes, count * rowBytes);
  }

  /// Whether the list has a key of it several times.
  public boolean hasTwice() {
    int[] all = positions;
    return all != null && all.length > count;
  }

  /// A key of it.
  public long key(int place) {
    return keys.get(JAVA_LONG_UNALIGNED, (long) Long.BYTES * place);
  }

  /// Copies its rows out of those of the list; keys that the list has several times are added up.
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

  /// Copies its rows to where the list has them.
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

  /// The same as `gather` of FLOAT16.
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

  /// The same as `scatter` of FLOAT16.
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
