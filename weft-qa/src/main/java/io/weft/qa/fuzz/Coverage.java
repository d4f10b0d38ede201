// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.fuzz;

import java.util.Arrays;

/// Where the instrumented code counts: edges between its blocks, and what it compared. Static,
/// because instructions that are inserted into foreign classes must find it; so only one fuzzer may
/// run in a process, on one thread.
public final class Coverage {

  static final int SLOTS = 1 << 16;
  private static final int MAX_PAIRS = 256;

  private static final byte[] HITS = new byte[SLOTS];
  private static final long[] PAIRS = new long[2 * MAX_PAIRS];
  private static int pairs;
  private static boolean tracing;
  private static int previous;

  private Coverage() {}

  /// A block of this number begins. An edge is the block and the one before it; counts stop at 255.
  ///
  /// Hot path.
  public static void hit(int block) {
    int slot = (block ^ previous) & (SLOTS - 1);
    previous = block >>> 1;
    if (HITS[slot] != -1) {
      HITS[slot]++;
    }
  }

  /// Two numbers are about to be compared.
  ///
  /// Hot path.
  public static void compared(int left, int right) {
    if (tracing) {
      note(left, right);
    }
  }

  /// Compares as the instruction `lcmp` does.
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

  /// Forgets all; `trace` also notes what is compared.
  static void begin(boolean trace) {
    Arrays.fill(HITS, (byte) 0);
    previous = 0;
    pairs = 0;
    tracing = trace;
  }

  /// Ends counting; returns the counters, valid until `begin`.
  static byte[] end() {
    tracing = false;
    return HITS;
  }

  /// Pairs of unequal numbers that were compared, one after the other.
  static long[] pairs() {
    return Arrays.copyOf(PAIRS, 2 * pairs);
  }
}
