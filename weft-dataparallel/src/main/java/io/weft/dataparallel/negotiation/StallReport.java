// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.negotiation;

import io.weft.dataparallel.frame.RankReport;
import io.weft.text.Printable;
import java.util.BitSet;
import java.util.List;
import java.util.stream.Collectors;

/// A stall in words.
final class StallReport {

  /// How many tensors are named.
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

  /// What a rank did last.
  static String last(RankReport report) {
    return report.lastOperation().isEmpty()
        ? "it has done no operation so far"
        : "its last operation was '"
            + report.lastOperation()
            + "', "
            + report.idleMillis()
            + " ms before its report";
  }

  static String also(List<String> submitted) {
    return submitted.isEmpty() ? "" : ", and it waits for other ranks with " + few(submitted, ", ");
  }

  /// @param ranks what each of them did instead
  static String neverSubmitted(List<String> ranks) {
    return String.join(". ", ranks)
        + "; within the deadline all ranks submit a tensor, or call join; the reducer works on";
  }

  private static String few(List<String> all, String between) {
    String first = all.stream().limit(MOST).collect(Collectors.joining(between));
    return all.size() <= MOST ? first : first + " and " + (all.size() - MOST) + " more";
  }
}
