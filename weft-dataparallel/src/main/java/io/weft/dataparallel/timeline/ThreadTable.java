// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.timeline;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;

/// Threads by a small number, with their names when they were first seen. At most `MOST` are known;
/// all others are number 0. A known one is found without a lock and without allocation.
/// Thread-safe.
final class ThreadTable {

  /// Most threads, number 0 included.
  static final int MOST = 256;

  private static final int SLOTS = 4 * MOST;

  private final AtomicLongArray known = new AtomicLongArray(SLOTS);
  private final int[] numbers = new int[SLOTS];
  private final String[] names = new String[MOST];
  private volatile int count = 1;

  ThreadTable() {
    Arrays.fill(names, "");
    names[0] = "(other threads)";
  }

  /// Of the calling thread.
  ///
  /// Hot path.
  int number() {
    Thread thread = Thread.currentThread();
    long id = thread.threadId();
    int at = slot(id);
    while (true) {
      long there = known.getAcquire(at); // pairs with the release in add
      if (there == id) {
        return numbers[at];
      }
      if (there == 0) {
        return count == MOST ? 0 : add(thread);
      }
      at = (at + 1) & (SLOTS - 1);
    }
  }

  /// Names of all that are known, by number.
  List<String> names() {
    return List.of(Arrays.copyOf(names, count)); // count is volatile: the names before it
  }

  private synchronized int add(Thread thread) {
    int number = count;
    if (number == MOST) {
      return 0;
    }
    int at = slot(thread.threadId());
    while (known.getPlain(at) != 0) {
      at = (at + 1) & (SLOTS - 1);
    }
    names[number] = thread.getName();
    numbers[at] = number;
    count = number + 1;
    known.setRelease(at, thread.threadId());
    return number;
  }

  private static int slot(long id) {
    return (int) (id * 31) & (SLOTS - 1);
  }
}
