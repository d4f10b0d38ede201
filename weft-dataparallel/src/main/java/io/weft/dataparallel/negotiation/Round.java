// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.negotiation;

import io.weft.dataparallel.frame.RoundReport;

/// The contribution of this rank to a round.
///
/// @param vector a head of `HEAD` bytes, then one byte for each slot of the response cache, 1 =
///   ready on this rank. The vectors of all ranks are combined by the minimum
/// @param report exchanged if a byte of the combined head requests it
public record Round(byte[] vector, RoundReport report) {

  /// The length of the head. Byte 0: 0 = a rank has a report. Byte 1: the longest fusion buffer
  /// that the rank accepts, as a power of two or `ANY_THRESHOLD`.
  public static final int HEAD = 2;

  /// The value for the longest fusion buffer of the options.
  public static final int ANY_THRESHOLD = 255;

  /// Returns the longest fusion buffer of this round in bytes, by the combined vector: the lowest
  /// limit of any rank, and at most `most`.
  public static long threshold(byte[] combined, long most) {
    int power = Byte.toUnsignedInt(combined[1]);
    return power >= Long.SIZE - 1 ? most : Math.min(most, 1L << power);
  }

  /// Returns true if the combined vector requests the exchange of reports.
  public static boolean exchangesReports(byte[] combined) {
    return combined[0] == 0;
  }
}
