// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mailbox;

import java.util.Arrays;

/// The numbers that a rank has taken and publishes nothing as, and has not said so yet in the slot.
/// In the order in which they were taken, which is that in which it is said of those of one slot.
/// Allocates only when there are more than ever before. Confined to the progress thread.
final class SkippedSlots {

  private final int[] skippedIn = new int[SharedMailbox.SLOTS];
  private long[] numbers = new long[SharedMailbox.SLOTS];
  private int size;

  /// One more; greater than those before.
  void add(long number) {
    if (size == numbers.length) {
      numbers = Arrays.copyOf(numbers, 2 * size);
    }
    numbers[size++] = number;
    skippedIn[slot(number)]++;
  }

  /// How many there are.
  ///
  /// Hot path.
  int size() {
    return size;
  }

  /// The one before which `index` others were taken of which nothing is said.
  long number(int index) {
    return numbers[index];
  }

  /// Whether one of them belongs into the slot of this number.
  ///
  /// Hot path.
  boolean isSkippedIn(long number) {
    return skippedIn[slot(number)] > 0;
  }

  /// The slot of the one at `index` says it; those behind it move up.
  void remove(int index) {
    skippedIn[slot(numbers[index])]--;
    size--;
    System.arraycopy(numbers, index + 1, numbers, index, size - index);
  }

  private static int slot(long number) {
    return (int) (number % SharedMailbox.SLOTS);
  }
}
