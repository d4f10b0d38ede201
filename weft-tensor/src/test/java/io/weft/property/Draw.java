// SPDX-License-Identifier: Apache-2.0
package io.weft.property;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;

/// Draws and records the arguments of one try of a [Property]. Bounds and numbers near the lower
/// bound are drawn more often than others because faults are likely there. Confined to one thread.
public final class Draw {

  /// One draw in `WAYS` is the lower bound, one is the upper bound, and `SMALL` are near the lower
  /// bound.
  private static final int WAYS = 16;

  private static final int SMALL = 4;

  private final Random random;
  private final List<Object> drawn = new ArrayList<>();

  Draw(long seed) {
    random = new Random(seed);
  }

  /// Returns the values drawn so far, in order.
  List<Object> drawn() {
    return drawn;
  }

  /// Draws a number from `least` to `most`, both included.
  public int between(int least, int most) {
    return remembered((int) number(least, most));
  }

  /// Draws a number from `least` to `most`, both included.
  public long between(long least, long most) {
    return remembered(number(least, most));
  }

  /// Draws the seed of a check's own random numbers.
  public long seed() {
    return remembered(random.nextLong());
  }

  /// Draws one of these values.
  @SafeVarargs
  public final <T> T of(T... values) {
    return remembered(values[random.nextInt(values.length)]);
  }

  /// Draws a list of `least` to `most` elements, each by `element`.
  public <T> List<T> list(int least, int most, Supplier<T> element) {
    int size = between(least, most);
    List<T> list = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      list.add(element.get());
    }
    return list;
  }

  private long number(long least, long most) {
    int way = random.nextInt(WAYS);
    if (way == 0 || least == most) {
      return least;
    }
    if (way == 1) {
      return most;
    }
    if (way < 2 + SMALL) {
      long small = random.nextLong(1L << 1 + random.nextInt(8));
      return Math.min(most, least + small);
    }
    return most == Long.MAX_VALUE ? random.nextLong(least, most) : random.nextLong(least, most + 1);
  }

  private <T> T remembered(T value) {
    drawn.add(value);
    return value;
  }
}
