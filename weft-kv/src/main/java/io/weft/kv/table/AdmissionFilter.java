// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.table;

/// How often keys without a row were asked for, about: four counters of 8 bits a key, chosen by its
/// hash, of which the least counts. Counts are too high where keys share all their counters, and
/// halved when there were eight times as many keys as counters, so that what comes once in a long
/// time never adds up. One thread.
final class AdmissionFilter {

  private static final int PER_KEY = 4;
  private static final int ROUNDS = 8;

  private final byte[] counters;
  private final int times;
  private long counted;

  /// @param times as often a key is asked for until it gets a row; 1 to 255
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
