// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.report;

import io.weft.telemetry.metrics.Goodput;
import io.weft.workloads.parameterserver.ServingFacts;
import io.weft.workloads.training.Shrink;
import io.weft.workloads.training.Timing;
import io.weft.workloads.training.Traffic;
import io.weft.workloads.training.TrainingCost;
import io.weft.workloads.training.TrainingOutcome;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// The summary of a run in words.
public final class Summary {

  private Summary() {}

  /// Returns a few lines, each with a terminator.
  public static String of(TrainReport report, TrainingOutcome outcome) {
    Timing timing = outcome.timing();
    return String.format(
        Locale.ROOT,
        """
        %s on %s, %s, %d epoch%s, global batch %d
          test accuracy  %.4f%s
          final loss     %.5f
          speed          %.0f samples/s, step p50 %.1f ms, p99 %.1f ms
        %s  sent           %s%s
          weights        %s
        %s%s\
        """,
        report.workload(),
        tasks(report),
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
        cost(report.cost()) + rate(report.rate()) + shares(timing) + goodput(outcome),
        bytes(report.traffic().bytesSent()),
        eachStep(report.traffic()) + oneSided(report.traffic()),
        digests(report.weightsDigest()),
        report.sample().map(line -> "  sample         " + line + "\n").orElse(""),
        losses(report.shrinks()) + serving(report.serving()));
  }

  private static String eachStep(Traffic traffic) {
    return traffic.bytesPerStep().isPresent()
        ? ", " + bytes((long) traffic.bytesPerStep().getAsDouble()) + " a step"
        : "";
  }

  private static String oneSided(Traffic traffic) {
    return traffic
        .transfers()
        .map(
            moved ->
                String.format(
                    Locale.ROOT,
                    "; of longer payloads %.1f %% one-sided, %s copied, %d registrations",
                    100 * moved.oneSidedShare(),
                    bytes(moved.copiedBytes()),
                    moved.registrations()))
        .orElse("");
  }

  private static String tasks(TrainReport report) {
    ServingFacts serving = report.serving();
    if (serving == null) {
      return report.ranks() + (report.ranks() == 1 ? " rank" : " ranks over " + report.transport());
    }
    return String.format(
        Locale.ROOT,
        "%d worker%s and %d server%s over %s, %s",
        serving.workers(),
        serving.workers() == 1 ? "" : "s",
        serving.servers(),
        serving.servers() == 1 ? "" : "s",
        serving.via().equals("grpc") ? serving.via() : report.transport(),
        serving.mode());
  }

  private static String serving(@Nullable ServingFacts serving) {
    if (serving == null) {
      return "";
    }
    StringBuilder lines = new StringBuilder();
    if (serving.tables() != null) {
      lines.append(
          String.format(
              Locale.ROOT,
              "  tables         %d pushes, %d pulls, staleness at most %d%n",
              serving.tables().pushes(),
              serving.tables().pulls(),
              serving.tables().staleness().max()));
      Double exposed = serving.tables().exposedShare();
      if (exposed != null) {
        lines.append(
            String.format(
                Locale.ROOT,
                "  exposed        %.1f %% of a step waits for servers, not hidden by computing%n",
                100 * exposed));
      }
    }
    Double requests = serving.requestsPerStep();
    if (requests != null) {
      lines.append(
          String.format(
              Locale.ROOT, "  requests       %.1f for tensors in a worker's step%n", requests));
    }
    if (serving.backup() > 0) {
      lines.append(
          String.format(
              Locale.ROOT,
              "  dropped        gradients of %d steps of workers, which arrived too late%n",
              serving.lost().droppedGradients()));
    }
    if (!serving.lost().lostWorkers().isEmpty()) {
      lines.append(
          String.format(
              Locale.ROOT, "  lost           workers %s%n", serving.lost().lostWorkers()));
    }
    return lines.toString();
  }

  /// Returns "rank 2", "ranks 0 and 3".
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

  private static String cost(@Nullable TrainingCost cost) {
    return cost == null
        ? ""
        : String.format(
            Locale.ROOT,
            "  cost           %d steps in %.1f s; %.1f s of processor time%n",
            cost.steps(),
            cost.elapsedSeconds(),
            cost.cpuSeconds());
  }

  private static String rate(TrainReport.@Nullable ScaledRate rate) {
    return rate == null
        ? ""
        : String.format(
            Locale.ROOT,
            "  rate           %s of all ranks, after a warm-up of %d steps%n",
            rate.learningRate(),
            rate.warmupSteps());
  }

  private static String shares(Timing timing) {
    if (Double.isNaN(timing.computeSeconds())) {
      return "";
    }
    double all = timing.computeSeconds() + timing.communicationSeconds() + timing.waitSeconds();
    if (all == 0) {
      return "  time           no steps were left\n";
    }
    return String.format(
        Locale.ROOT,
        "  time           %.0f %% computing, %.0f %% communicating, %.0f %% waiting for other ranks"
            + " (a collective ran during %.0f %%)%n",
        100 * timing.computeSeconds() / all,
        100 * timing.communicationSeconds() / all,
        100 * timing.waitSeconds() / all,
        100 * timing.inFlightSeconds() / all);
  }

  private static String goodput(TrainingOutcome outcome) {
    return outcome.goodput().map(Summary::goodput).orElse("");
  }

  private static String goodput(Goodput goodput) {
    double wall = goodput.wallSeconds();
    if (wall <= 0) {
      return "";
    }
    String waiting =
        goodput.waitingSeconds().entrySet().stream()
            .map(
                rank ->
                    String.format(
                        Locale.ROOT,
                        ", %.0f %% waiting for rank %d",
                        100 * rank.getValue() / wall,
                        rank.getKey()))
            .collect(Collectors.joining());
    return String.format(
        Locale.ROOT,
        "  goodput        %.0f %% of %.1f s computing; %.0f %% start-up, %.0f %% exposed"
            + " communication%s, %.0f %% input, %.0f %% checkpoints, %.0f %% tests, %.0f %%"
            + " other%n",
        100 * goodput.share(),
        wall,
        100 * goodput.startUpSeconds() / wall,
        100 * goodput.exposedSeconds() / wall,
        waiting,
        100 * goodput.inputSeconds() / wall,
        100 * goodput.checkpointSeconds() / wall,
        100 * goodput.evaluationSeconds() / wall,
        100 * goodput.otherSeconds() / wall);
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
