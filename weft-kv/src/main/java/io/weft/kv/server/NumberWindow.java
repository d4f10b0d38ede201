// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.cluster.channel.RequestChannel;
import java.lang.foreign.MemorySegment;

/// The pushes of one worker that a shard has received: all below a floor, and those marked in a
/// bitmap. The worker raises the floor above its completed pushes, so that an abandoned push leaves
/// no permanent gap. Confined to the shard's thread.
final class NumberWindow {

  /// The size of the bitmap, which exceeds the number of a worker's open requests.
  static final int WIDTH = 4 * RequestChannel.MAX_OPEN;

  /// The length of the result of `export`.
  static final int EXPORT_BYTES = Long.BYTES + WIDTH / Byte.SIZE;

  private final long[] seen = new long[WIDTH / Long.SIZE];
  private long floor = 1;

  /// Marks the push of this number and returns whether it is new.
  ///
  /// @param settled no push below this number arrives again
  /// @throws IllegalArgumentException for a number too far above the floor
  boolean isNew(long number, long settled) {
    raise(settled);
    if (number < floor) {
      return false;
    }
    if (number - floor >= WIDTH) {
      throw new IllegalArgumentException(
          "push %d, while those from %d on are open; at most %d are open at once"
              .formatted(number, floor, WIDTH));
    }
    int bit = (int) (number % WIDTH);
    long mask = 1L << bit;
    boolean first = (seen[bit / Long.SIZE] & mask) == 0;
    seen[bit / Long.SIZE] |= mask;
    return first;
  }

  /// Returns the state of this window, for `take`.
  byte[] export() {
    byte[] bytes = new byte[EXPORT_BYTES];
    MemorySegment to = MemorySegment.ofArray(bytes);
    to.set(JAVA_LONG_UNALIGNED, 0, floor);
    MemorySegment.copy(seen, 0, to, JAVA_LONG_UNALIGNED, Long.BYTES, seen.length);
    return bytes;
  }

  /// Restores the state written by `export`, of `EXPORT_BYTES`.
  void take(MemorySegment from) {
    floor = from.get(JAVA_LONG_UNALIGNED, 0);
    MemorySegment.copy(from, JAVA_LONG_UNALIGNED, Long.BYTES, seen, 0, seen.length);
  }

  private void raise(long settled) {
    long steps = Math.min(settled - floor, WIDTH);
    for (long i = 0; i < steps; i++) {
      int bit = (int) ((floor + i) % WIDTH);
      seen[bit / Long.SIZE] &= ~(1L << bit);
    }
    floor = Math.max(floor, settled);
  }
}
