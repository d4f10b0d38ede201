// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.cluster.channel.RequestChannel;
import java.lang.foreign.MemorySegment;

/// Which pushes of one worker a shard has seen: all below a floor, and those that a bitmap marks.
/// The worker moves the floor by what is over for it, so that a push that was given up leaves no
/// gap for ever. Confined to the shard's thread.
final class NumberWindow {

  /// Wider than the requests that a worker can have open.
  static final int WIDTH = 4 * RequestChannel.MAX_OPEN;

  /// Length of what `export` writes.
  static final int EXPORT_BYTES = Long.BYTES + WIDTH / Byte.SIZE;

  private final long[] seen = new long[WIDTH / Long.SIZE];
  private long floor = 1;

  /// Whether the push of this number is new; it is known from now on.
  ///
  /// @param settled no push below this number comes again
  /// @throws IllegalArgumentException for a number that is too far ahead of those that are open
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

  /// Itself, for `take` of another one.
  byte[] export() {
    byte[] bytes = new byte[EXPORT_BYTES];
    MemorySegment to = MemorySegment.ofArray(bytes);
    to.set(JAVA_LONG_UNALIGNED, 0, floor);
    MemorySegment.copy(seen, 0, to, JAVA_LONG_UNALIGNED, Long.BYTES, seen.length);
    return bytes;
  }

  /// Becomes what `export` wrote, of `EXPORT_BYTES`.
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
