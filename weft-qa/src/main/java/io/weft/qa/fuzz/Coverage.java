// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import java.util.Arrays;

/// The counters of the instrumented code: edges between its blocks, and compared numbers. They are
/// static because instructions in foreign classes access them. Therefore only one fuzzer may run in
/// a process, on one thread.
public final class Coverage {

  static final int SLOTS = 1 << 16;
  private static final int MAX_PAIRS = 256;

  private static final byte[] HITS = new byte[SLOTS];
  private static final long[] PAIRS = new long[2 * MAX_PAIRS];
  private static int pairs;
  private static boolean tracing;
  private static int previous;

  private Coverage() {}

  /// Counts the edge from the previous block to this one. Counts saturate at 255.
  ///
  /// Hot path.
  public static void hit(int block) {
    int slot = (block ^ previous) & (SLOTS - 1);
    previous = block >>> 1;
    if (HITS[slot] != -1) {
      HITS[slot]++;
    }
  }

  /// Records two numbers that are about to be compared.
  ///
  /// Hot path.
  public static void compared(int left, int right) {
    if (tracing) {
      note(left, right);
    }
  }

  /// Records two numbers and compares them as the instruction `lcmp` does.
  ///
  /// Hot path.
  public static int compared(long left, long right) {
    if (tracing) {
      note(left, right);
    }
    return Long.compare(left, right);
  }

  private static void note(long left, long right) {
    if (left != right && pairs < MAX_PAIRS) {
      PAIRS[2 * pairs] = left;
      PAIRS[2 * pairs + 1] = right;
      pairs++;
    }
  }

  /// Resets the counters. `trace` also records compared numbers.
  static void begin(boolean trace) {
    Arrays.fill(HITS, (byte) 0);
    previous = 0;
    pairs = 0;
    tracing = trace;
  }

  /// Ends counting. Returns the counters, valid until `begin`.
  static byte[] end() {
    tracing = false;
    return HITS;
  }

  /// Returns the recorded pairs of unequal numbers, two elements per pair.
  static long[] pairs() {
    return Arrays.copyOf(PAIRS, 2 * pairs);
  }
}
