// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mailbox;

import java.util.Arrays;

/// The numbers that a rank has taken, does not use, and has not yet published as skipped. They are
/// in the order in which they were taken, in which those of one slot are published. Allocates only
/// when their number reaches a new maximum. Confined to the progress thread.
final class SkippedSlots {

  private final int[] skippedIn = new int[SharedMailbox.SLOTS];
  private long[] numbers = new long[SharedMailbox.SLOTS];
  private int size;

  /// Adds a number, which must be greater than the earlier ones.
  void add(long number) {
    if (size == numbers.length) {
      numbers = Arrays.copyOf(numbers, 2 * size);
    }
    numbers[size++] = number;
    skippedIn[slot(number)]++;
  }

  /// Hot path.
  int size() {
    return size;
  }

  long number(int index) {
    return numbers[index];
  }

  /// Returns whether one of the numbers belongs to the slot of this number.
  ///
  /// Hot path.
  boolean isSkippedIn(long number) {
    return skippedIn[slot(number)] > 0;
  }

  /// Removes the number at this index, which its slot now publishes as skipped.
  void remove(int index) {
    skippedIn[slot(numbers[index])]--;
    size--;
    System.arraycopy(numbers, index + 1, numbers, index, size - index);
  }

  private static int slot(long number) {
    return (int) (number % SharedMailbox.SLOTS);
  }
}
