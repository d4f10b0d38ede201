// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Names by number. A lookup of a known name takes no lock and allocates nothing. The table has at
/// most `MOST` names; all others have the number 0. Thread-safe.
final class NameTable {

  /// The maximum number of names, including number 0.
  static final int MOST = 1 << 14;

  private static final String OTHERS = "(other names)";
  private static final int SLOTS = 2 * MOST;
  private static final VarHandle KNOWN = MethodHandles.arrayElementVarHandle(String[].class);

  private final @Nullable String[] known = new String[SLOTS];
  private final int[] numbers = new int[SLOTS];
  private final String[] names = new String[MOST];
  private volatile int count = 1;

  NameTable() {
    Arrays.fill(names, "");
    names[0] = OTHERS;
  }

  /// Hot path.
  int number(String name) {
    int at = slot(name);
    while (true) {
      String there = (String) KNOWN.getAcquire(known, at); // pairs with the release in add
      if (there == null) {
        return count == MOST ? 0 : add(name);
      }
      if (there.equals(name)) {
        return numbers[at];
      }
      at = (at + 1) & (SLOTS - 1);
    }
  }

  List<String> names() {
    return List.of(Arrays.copyOf(names, count)); // volatile: names below it are written
  }

  private synchronized int add(String name) {
    int at = slot(name);
    for (String there = known[at]; there != null; there = known[at]) {
      if (there.equals(name)) {
        return numbers[at];
      }
      at = (at + 1) & (SLOTS - 1);
    }
    int number = count;
    if (number == MOST) {
      return 0;
    }
    names[number] = name;
    numbers[at] = number;
    count = number + 1;
    KNOWN.setRelease(known, at, name);
    return number;
  }

  private static int slot(String name) {
    int hash = name.hashCode();
    return (hash ^ hash >>> 16) & (SLOTS - 1);
  }
}
