// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.negotiation;

import io.weft.dataparallel.frame.RoundReport;
import io.weft.text.Printable;
import java.util.BitSet;
import java.util.List;
import java.util.stream.Collectors;

/// The words of stall reports.
final class StallReport {

  /// The maximum number of named tensors.
  private static final int MOST = 6;

  private StallReport() {}

  static String of(String self, List<String> waiting, List<String> missing) {
    return Printable.of(
        self
            + " waits for other ranks: "
            + few(waiting, "; ")
            + ". "
            + String.join(". ", missing)
            + ". All ranks must submit the same tensors; a rank without data calls join");
  }

  static String waiting(String tensor, long nanos, BitSet missing) {
    return "'" + tensor + "' for " + nanos / 1_000_000 + " ms, missing ranks " + missing;
  }

  /// Returns the last operation of a rank in words.
  static String last(RoundReport report) {
    return report.lastOperation().isEmpty()
        ? "it has not completed an operation yet"
        : "its last operation was '"
            + report.lastOperation()
            + "', "
            + report.idleMillis()
            + " ms before its report";
  }

  static String also(List<String> submitted) {
    return submitted.isEmpty() ? "" : ", and it waits for other ranks with " + few(submitted, ", ");
  }

  /// @param ranks the last operation of each missing rank, in words
  static String neverSubmitted(List<String> ranks) {
    return String.join(". ", ranks)
        + "; within the deadline all ranks submit a tensor, or call join; the reducer works on";
  }

  private static String few(List<String> all, String between) {
    String first = all.stream().limit(MOST).collect(Collectors.joining(between));
    return all.size() <= MOST ? first : first + " and " + (all.size() - MOST) + " more";
  }
}
