// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicLongArray;

/// Threads by a small number, with their names at their first event. The table has at most `MOST`
/// threads; all others have the number 0. A lookup of a known thread takes no lock and allocates
/// nothing. Thread-safe.
final class ThreadTable {

  /// The maximum number of threads, including number 0.
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

  /// Returns the number of the calling thread.
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

  List<String> names() {
    return List.of(Arrays.copyOf(names, count)); // volatile: names below it are written
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
