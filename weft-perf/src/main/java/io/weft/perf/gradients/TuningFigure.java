// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import io.weft.perf.process.PerfException;
import io.weft.perf.report.BenchmarkHost;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/// The result of an autotuner: one JSON object. Times are medians of steps on the slowest rank.
///
/// @param benchmark always "autotune"
/// @param startMicros time of a step with the smallest sizes
/// @param tunedMicros time of a step with the sizes that were found
/// @param handMicros time of a step with the best fusion threshold and segments of the rule table
/// @param handThreshold this threshold, 0 for separate tensors
/// @param seconds duration of the search
/// @param samples number of samples, each a line of the log
/// @param fusionThreshold threshold that was found, 0 for separate tensors
/// @param segmentBytes segment size that was found, 0 for that of the rule table
/// @param window window that was found, 0 for that of the rule table
public record TuningFigure(
    String benchmark,
    String model,
    int ranks,
    String transport,
    double startMicros,
    double tunedMicros,
    double handMicros,
    long handThreshold,
    long seconds,
    int samples,
    long fusionThreshold,
    long segmentBytes,
    long window,
    BenchmarkHost host) {

  /// The header of a log in CSV, which has a line for each sample.
  public static final String LOG_HEAD = "sample,fusion_threshold,segment_bytes,window,step_micros";

  /// Reads the output of rank 0. Throws `PerfException.Failed` if its end is missing.
  static TuningFigure parse(
      String model, GradientsFigure.Carrier carrier, List<String> lines, BenchmarkHost host) {
    double start = 0;
    double hand = Double.POSITIVE_INFINITY;
    long handThreshold = 0;
    int samples = 0;
    List<String> tuned = List.of();
    boolean ended = false;
    for (String line : lines) {
      List<String> words = Arrays.asList(line.split(" ", -1));
      switch (words.getFirst()) {
        case "start" -> start = Double.parseDouble(words.get(1));
        case "sample" -> samples++;
        case "tuned" -> tuned = words;
        case "hand" -> {
          double micros = Double.parseDouble(words.get(2));
          if (micros < hand) {
            hand = micros;
            handThreshold = Long.parseLong(words.get(1));
          }
        }
        case "done" -> ended = true;
        default -> {}
      }
    }
    if (!ended || tuned.size() < 6) {
      throw new PerfException.Failed(
          "the ranks have ended before their report of %d lines was complete"
              .formatted(lines.size()));
    }
    return new TuningFigure(
        "autotune",
        model,
        carrier.ranks(),
        carrier.transport(),
        start,
        Double.parseDouble(tuned.get(5)),
        hand,
        handThreshold,
        Long.parseLong(tuned.get(1)),
        samples,
        Long.parseLong(tuned.get(2)),
        Long.parseLong(tuned.get(3)),
        Long.parseLong(tuned.get(4)),
        host);
  }

  /// Returns the lines of the log.
  static List<String> log(List<String> lines) {
    List<String> log = new ArrayList<>(List.of(LOG_HEAD));
    lines.stream()
        .filter(line -> line.startsWith("sample "))
        .map(line -> line.substring("sample ".length()).replace(' ', ','))
        .forEach(log::add);
    return log;
  }

  /// Returns the figure as text.
  public String text() {
    return String.format(
        Locale.ROOT,
        "autotuning %s, %d ranks, %s: %d samples in %d s%n"
            + "  smallest sizes   %10.1f us a step%n"
            + "  found            %10.1f us: fusion threshold %d, segments %s, in flight %s%n"
            + "  best threshold   %10.1f us: %d%n"
            + "  found / best     %10.2f%n",
        model,
        ranks,
        transport,
        samples,
        seconds,
        startMicros,
        tunedMicros,
        fusionThreshold,
        segmentBytes == 0 ? "as in the rule table" : Long.toString(segmentBytes),
        window == 0 ? "as in the rule table" : Long.toString(window),
        handMicros,
        handThreshold,
        tunedMicros / handMicros);
  }
}
