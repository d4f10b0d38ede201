// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import io.weft.rendezvous.RendezvousKey;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The open steps, and for each series the set of ended steps. Confined to the progress thread.
final class OpenSteps {

  private final Map<Long, OpenStep> open = new HashMap<>();
  private final Map<Long, Ended> ended = new HashMap<>();
  private @Nullable OpenStep last;

  /// Returns the step with this number, opening it if necessary; null if it has ended.
  ///
  /// Hot path, if the previous call had the same step.
  @Nullable OpenStep open(long number) {
    OpenStep known = last;
    if (known != null && known.number() == number) {
      return known;
    }
    if (hasEnded(number)) {
      return null;
    }
    known = open.computeIfAbsent(number, OpenStep::new);
    last = known;
    return known;
  }

  boolean hasEnded(long number) {
    Ended series = ended.get(RendezvousKey.series(number));
    return series != null && series.has(RendezvousKey.numberInSeries(number));
  }

  /// Ends a step. Returns its open state, or null.
  @Nullable OpenStep end(long number) {
    last = null;
    ended
        .computeIfAbsent(RendezvousKey.series(number), series -> new Ended())
        .add(RendezvousKey.numberInSeries(number));
    return open.remove(number);
  }

  int size() {
    return open.size();
  }

  Collection<OpenStep> all() {
    return open.values();
  }

  /// Returns a copy of the open steps, which stays valid when they change.
  List<OpenStep> snapshot() {
    return List.copyOf(open.values());
  }

  /// The ended steps of one series. The set is exact for the last `WINDOW` numbers; all earlier
  /// steps count as ended.
  private static final class Ended {

    /// Largest distance of an open step from the highest ended step of its series.
    static final int WINDOW = 1 << 16;

    private final long[] ended = new long[WINDOW / Long.SIZE];
    private long highest = -1;

    /// Hot path.
    boolean has(long number) {
      return number <= highest - WINDOW || (number <= highest && bit(number));
    }

    private boolean bit(long number) {
      int at = (int) (number & (WINDOW - 1));
      return (ended[at / Long.SIZE] >>> at & 1) != 0;
    }

    void add(long number) {
      if (number > highest) {
        if (number - highest >= WINDOW) {
          Arrays.fill(ended, 0);
        } else {
          for (long between = highest + 1; between < number; between++) {
            int at = (int) (between & (WINDOW - 1));
            ended[at / Long.SIZE] &= ~(1L << at);
          }
        }
        highest = number;
      }
      if (number > highest - WINDOW) {
        int at = (int) (number & (WINDOW - 1));
        ended[at / Long.SIZE] |= 1L << at;
      }
    }
  }
}
