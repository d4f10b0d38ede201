// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.negotiation;

import io.weft.dataparallel.frame.RankReport;

/// What this rank brings into a round.
///
/// @param vector one byte for each slot of the response cache, 1 = ready here, behind a head of
///   `HEAD` bytes; all ranks' are combined by the minimum
/// @param report exchanged if a byte of the head says so
public record Round(byte[] vector, RankReport report) {

  /// Length of the head: 0 in it = somebody has something to tell.
  public static final int HEAD = 1;

  /// Whether reports are to be exchanged, by the combined vector.
  public static boolean exchangesReports(byte[] combined) {
    return combined[0] == 0;
  }
}
