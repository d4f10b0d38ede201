// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.workloads.data.Examples;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;

/// The rows that a rank has received in an exchange, in the order of their arrival. They take the
/// free places of one array; rows without a free place wait. Confined to one thread.
final class ArrivedRows {

  private final Examples before;
  private final int features;
  private final byte[] values;
  private final byte[] labels;

  /// The numbers of the stored rows; at the end, their targets.
  private final int[] numbers;

  private final ArrayDeque<ByteBuffer> waiting = new ArrayDeque<>();
  private int stored;

  /// @param before the rows of the rank before the exchange
  /// @param inPlace uses the array of these rows, which must be long enough; otherwise a new one
  /// @param count the number of rows that will arrive
  ArrivedRows(Examples before, boolean inPlace, int count) {
    this.before = before;
    features = before.features();
    values = inPlace ? before.values() : new byte[Math.multiplyExact(count, features)];
    labels = new byte[count];
    numbers = new int[count];
  }

  /// Stores rows.
  ///
  /// @param parcel the number, the label and the features of each row
  /// @param free the number of places, from the first, that may be overwritten or are taken
  void add(byte[] parcel, int free) {
    waiting.add(ByteBuffer.wrap(parcel));
    int end = Math.min(free, numbers.length);
    while (!waiting.isEmpty() && (stored < end || !waiting.peek().hasRemaining())) {
      ByteBuffer next = waiting.peek();
      if (next.hasRemaining()) {
        numbers[stored] = next.getInt();
        labels[stored] = next.get();
        next.get(values, stored * features, features);
        stored++;
      } else {
        waiting.remove();
      }
    }
  }

  /// Returns the rows in the order of these numbers. Moves them within the array.
  Examples inOrder(int[] wanted) {
    if (stored != wanted.length || !waiting.isEmpty()) {
      throw new IllegalStateException(
          stored
              + " of "
              + wanted.length
              + " rows have arrived"
              + (waiting.isEmpty() ? "" : ", and further ones"));
    }
    replaceByTargets(wanted);
    byte[] held = new byte[features];
    for (int i = 0; i < stored; i++) {
      while (numbers[i] != i) {
        swap(i, held);
      }
    }
    return new Examples(features, before.classes(), before.scale(), values, labels);
  }

  /// Moves a row to its target, and the row at the target to the place of the first.
  private void swap(int at, byte[] held) {
    int target = numbers[at];
    if (numbers[target] == target) {
      throw new IllegalStateException("the row for position " + target + " has arrived twice");
    }
    System.arraycopy(values, at * features, held, 0, features);
    System.arraycopy(values, target * features, values, at * features, features);
    System.arraycopy(held, 0, values, target * features, features);
    byte label = labels[at];
    labels[at] = labels[target];
    labels[target] = label;
    numbers[at] = numbers[target];
    numbers[target] = target;
  }

  /// Replaces the number of each arrived row by its position in `wanted`.
  private void replaceByTargets(int[] wanted) {
    long[] places = new long[wanted.length];
    Arrays.setAll(places, i -> (long) wanted[i] << Integer.SIZE | i);
    Arrays.sort(places);
    Arrays.setAll(numbers, i -> place(places, numbers[i]));
  }

  private static int place(long[] places, int number) {
    int at = -1 - Arrays.binarySearch(places, ((long) number << Integer.SIZE) - 1);
    if (at < 0 || at == places.length || (int) (places[at] >> Integer.SIZE) != number) {
      throw new IllegalStateException("row " + number + " came to a rank that does not want it");
    }
    return (int) places[at];
  }
}
