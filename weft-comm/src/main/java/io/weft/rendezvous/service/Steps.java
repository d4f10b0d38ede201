// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import io.weft.rendezvous.RendezvousKey;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/// The steps that are open, and which have ended, of each series for itself. Confined to the
/// progress thread.
final class Steps {

  private final Map<Long, Step> open = new HashMap<>();
  private final Map<Long, Ended> ended = new HashMap<>();
  private @Nullable Step last;

  /// The step with this number, opened now if need be; null if it has ended.
  ///
  /// Hot path, for the step of the call before.
  @Nullable Step open(long number) {
    Step known = last;
    if (known != null && known.number() == number) {
      return known;
    }
    if (hasEnded(number)) {
      return null;
    }
    known = open.computeIfAbsent(number, Step::new);
    last = known;
    return known;
  }

  boolean hasEnded(long number) {
    Ended series = ended.get(RendezvousKey.series(number));
    return series != null && series.has(RendezvousKey.numberInSeries(number));
  }

  /// Ends a step; returns what was open of it, or null.
  @Nullable Step end(long number) {
    last = null;
    ended
        .computeIfAbsent(RendezvousKey.series(number), series -> new Ended())
        .add(RendezvousKey.numberInSeries(number));
    return open.remove(number);
  }

  int size() {
    return open.size();
  }

  Collection<Step> all() {
    return open.values();
  }

  /// As they are now; they may then change.
  List<Step> snapshot() {
    return List.copyOf(open.values());
  }

  /// Which steps of one series have ended: exactly for the last `WINDOW` numbers, and all before
  /// them.
  private static final class Ended {

    /// How far a step may be behind the highest of its series that has ended.
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
