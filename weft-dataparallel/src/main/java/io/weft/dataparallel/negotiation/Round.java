// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.negotiation;

import io.weft.dataparallel.frame.RankReport;

/// What this rank brings into a round.
///
/// @param vector one byte for each slot of the response cache, 1 = ready here, behind a head of
///   `HEAD` bytes; all ranks' are combined by the minimum
/// @param report exchanged if a byte of the head says so
public record Round(byte[] vector, RankReport report) {

  /// Length of the head. Byte 0: 0 = somebody has something to tell. Byte 1: the longest fusion
  /// buffer that all ranks take, `ANY_THRESHOLD` or the power of two.
  public static final int HEAD = 2;

  /// The longest fusion buffer is that of the options.
  public static final int ANY_THRESHOLD = 255;

  /// Longest fusion buffer of this round, by the combined vector: the least that a rank has asked
  /// for, and at most `most`. In bytes.
  public static long threshold(byte[] combined, long most) {
    int power = Byte.toUnsignedInt(combined[1]);
    return power >= Long.SIZE - 1 ? most : Math.min(most, 1L << power);
  }

  /// Whether reports are to be exchanged, by the combined vector.
  public static boolean exchangesReports(byte[] combined) {
    return combined[0] == 0;
  }
}
