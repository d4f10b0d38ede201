// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.report;

import io.weft.workloads.training.Outcome;
import io.weft.workloads.training.Shrink;
import io.weft.workloads.training.Timing;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/// The end of a run in words.
public final class Summary {

  private Summary() {}

  /// A few lines, each ended.
  public static String of(TrainReport report, Outcome outcome) {
    Timing timing = outcome.timing();
    return String.format(
        Locale.ROOT,
        """
        %s on %d rank%s%s, %s, %d epoch%s, global batch %d
          test accuracy  %.4f%s
          final loss     %.5f
          speed          %.0f samples/s, step p50 %.1f ms, p99 %.1f ms
          time           %s
          sent           %s
          weights        %s
        %s\
        """,
        report.workload(),
        report.ranks(),
        report.ranks() == 1 ? "" : "s",
        report.ranks() == 1 ? "" : " over " + report.transport(),
        report.dataset(),
        report.epochs(),
        report.epochs() == 1 ? "" : "s",
        report.globalBatch(),
        report.testAccuracy(),
        report.testAuc().isPresent()
            ? String.format(Locale.ROOT, ", AUC %.4f", report.testAuc().getAsDouble())
            : "",
        report.finalLoss(),
        report.samplesPerSecond(),
        report.stepMillis().p50(),
        report.stepMillis().p99(),
        shares(timing),
        bytes(report.bytesSent()),
        digests(report.weightsDigest()),
        losses(report.shrinks()));
  }

  /// "rank 2", "ranks 0 and 3".
  static String ranks(List<Integer> ranks) {
    String all = ranks.stream().map(String::valueOf).collect(Collectors.joining(", "));
    int comma = all.lastIndexOf(", ");
    return comma < 0
        ? "rank " + all
        : "ranks " + all.substring(0, comma) + " and " + all.substring(comma + 2);
  }

  private static String losses(List<Shrink> shrinks) {
    return shrinks.stream()
        .filter(shrink -> !shrink.lost().isEmpty())
        .map(
            shrink ->
                String.format(
                    Locale.ROOT,
                    "  lost           %s after step %d; went on with %d after %.1f s%n",
                    ranks(shrink.lost()),
                    shrink.step(),
                    shrink.survivors(),
                    shrink.seconds()))
        .collect(Collectors.joining());
  }

  private static String shares(Timing timing) {
    double all = timing.computeSeconds() + timing.communicationSeconds() + timing.waitSeconds();
    if (all == 0) {
      return "no step was left to take";
    }
    return String.format(
        Locale.ROOT,
        "%.0f %% computing, %.0f %% communicating, %.0f %% waiting for other ranks"
            + " (a collective ran during %.0f %%)",
        100 * timing.computeSeconds() / all,
        100 * timing.communicationSeconds() / all,
        100 * timing.waitSeconds() / all,
        100 * timing.inFlightSeconds() / all);
  }

  private static String bytes(long bytes) {
    if (bytes < 1_000_000) {
      return bytes + " bytes";
    }
    return bytes < 1_000_000_000L
        ? String.format(Locale.ROOT, "%.1f MB", bytes / 1e6)
        : String.format(Locale.ROOT, "%.2f GB", bytes / 1e9);
  }

  private static String digests(List<String> digests) {
    boolean same = digests.stream().distinct().count() == 1;
    String first = "SHA-256 " + digests.getFirst().substring(0, 16) + "…";
    if (digests.size() == 1) {
      return first;
    }
    return same ? first + ", the same on all ranks" : "DIFFER between ranks: " + digests;
  }
}
