// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

/// Approximate counts of the uses of keys without a row. Each key has four 8-bit counters, chosen
/// by its hash, and its count is the least of them. A count is too high if other keys share all of
/// its counters. All counters are halved each time the number of counted uses reaches eight times
/// the number of counters, so that rare uses do not accumulate. One thread.
final class AdmissionFilter {

  private static final int PER_KEY = 4;
  private static final int ROUNDS = 8;

  private final byte[] counters;
  private final int times;
  private long counted;

  /// @param times how often a key must be used until it gets a row; 1 to 255
  /// @param counters a power of two
  AdmissionFilter(int times, int counters) {
    this.times = times;
    this.counters = new byte[counters];
  }

  /// Counts a key, and returns whether it now gets a row.
  ///
  /// Hot path.
  boolean admits(long hash) {
    int mask = counters.length - 1;
    int first = (int) hash;
    int step = (int) (hash >>> 32) | 1;
    int least = 255;
    for (int i = 0; i < PER_KEY; i++) {
      least = Math.min(least, counters[(first + i * step) & mask] & 0xFF);
    }
    if (least + 1 >= times) {
      return true;
    }
    for (int i = 0; i < PER_KEY; i++) {
      int at = (first + i * step) & mask;
      if ((counters[at] & 0xFF) == least) {
        counters[at]++;
      }
    }
    if (++counted == (long) ROUNDS * counters.length) {
      halve();
    }
    return false;
  }

  private void halve() {
    counted = 0;
    for (int i = 0; i < counters.length; i++) {
      counters[i] = (byte) ((counters[i] & 0xFF) >>> 1);
    }
  }

  long bytes() {
    return counters.length;
  }
}
