// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs;

import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// A hash table from the numbers of queue pairs to their owners, with linear probing, at most half
/// full. Confined to one thread.
final class QueuePairTable<T> {

  // No queue pair of a connection has the number 0, which belongs to the management of the fabric.
  private static final int EMPTY = 0;
  private static final int GOLDEN_RATIO = 0x9E3779B9;

  private int[] numbers = new int[16];
  private @Nullable Object[] owners = new @Nullable Object[16];
  private int size;

  /// Adds a queue pair. Throws `IllegalArgumentException` if the number is 0 or already present.
  void add(int number, T owner) {
    Objects.requireNonNull(owner);
    if (number == EMPTY || find(number) != null) {
      throw new IllegalArgumentException("queue pair " + number + " is 0 or present");
    }
    if (2 * (size + 1) > numbers.length) {
      grow();
    }
    put(number, owner);
    size++;
  }

  private void put(int number, Object owner) {
    int place = place(number);
    while (numbers[place] != EMPTY) {
      place = next(place);
    }
    numbers[place] = number;
    owners[place] = owner;
  }

  private void grow() {
    int[] oldNumbers = numbers;
    @Nullable Object[] oldOwners = owners;
    numbers = new int[2 * oldNumbers.length];
    owners = new @Nullable Object[numbers.length];
    for (int i = 0; i < oldNumbers.length; i++) {
      Object owner = oldOwners[i];
      if (owner != null) {
        put(oldNumbers[i], owner);
      }
    }
  }

  /// Removes a queue pair, if it is present.
  void remove(int number) {
    if (find(number) == null) {
      return;
    }
    int hole = place(number);
    while (numbers[hole] != number) {
      hole = next(hole);
    }
    size--;
    // Later entries of the same run move up, unless their own place is after the hole.
    for (int at = next(hole); numbers[at] != EMPTY; at = next(at)) {
      int distance = (at - place(numbers[at])) & (numbers.length - 1);
      if (distance >= ((at - hole) & (numbers.length - 1))) {
        numbers[hole] = numbers[at];
        owners[hole] = owners[at];
        hole = at;
      }
    }
    numbers[hole] = EMPTY;
    owners[hole] = null;
  }

  /// Returns the owner of the queue pair with this number, or null.
  ///
  /// Hot path.
  @SuppressWarnings("unchecked") // because `add` stores only owners of this type
  @Nullable T find(int number) {
    int place = place(number);
    while (numbers[place] != number) {
      if (numbers[place] == EMPTY) {
        return null;
      }
      place = next(place);
    }
    return (T) owners[place];
  }

  /// Returns the number of queue pairs.
  int size() {
    return size;
  }

  private int place(int number) {
    return (number * GOLDEN_RATIO) >>> (Integer.numberOfLeadingZeros(numbers.length) + 1);
  }

  private int next(int place) {
    return (place + 1) & (numbers.length - 1);
  }
}
