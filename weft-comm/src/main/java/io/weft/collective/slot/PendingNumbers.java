// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.slot;

import java.util.Arrays;

/// Numbers that a rank has taken, of which its slots do not say anything yet, ascending. Allocates
/// only when there are more than ever before. Confined to the progress thread.
final class PendingNumbers {

  private long[] numbers = new long[SharedMailbox.SLOTS];
  private int size;

  /// One more.
  void add(long number) {
    if (size == numbers.length) {
      numbers = Arrays.copyOf(numbers, 2 * size);
    }
    int at = size++;
    while (at > 0 && numbers[at - 1] > number) {
      numbers[at] = numbers[at - 1];
      at--;
    }
    numbers[at] = number;
  }

  /// How many there are.
  ///
  /// Hot path.
  int size() {
    return size;
  }

  /// The one before which there are `index` smaller ones.
  ///
  /// Hot path.
  long number(int index) {
    return numbers[index];
  }

  /// Whether there is a smaller one that belongs into the same slot, and is to stand there first.
  ///
  /// Hot path.
  boolean hasBefore(long number) {
    for (int i = 0; i < size && numbers[i] < number; i++) {
      if ((number - numbers[i]) % SharedMailbox.SLOTS == 0) {
        return true;
      }
    }
    return false;
  }

  /// Takes one out, if it is there.
  ///
  /// Hot path.
  void remove(long number) {
    for (int i = 0; i < size; i++) {
      if (numbers[i] == number) {
        size--;
        System.arraycopy(numbers, i + 1, numbers, i, size - i);
        return;
      }
    }
  }
}
