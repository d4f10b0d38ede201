// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.training;

import io.weft.perf.report.BenchmarkHost;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/// The figures of one workload in the report: medians over the rounds.
///
/// @param benchmark always "training"
/// @param workload name on the command line
/// @param ranks number of ranks that trained together
/// @param batchPerRank examples of a rank in a step
/// @param samplesPerSecond rate of all ranks together
/// @param oneRankSamplesPerSecond rate of one rank alone with an equal batch
/// @param efficiency median over the rounds of the rate of N ranks divided by N times that of one
/// @param p50Micros median time of a step
/// @param p99Micros time that 99 of 100 steps did not exceed
/// @param exposedShare share of exposed communication in the time of the steps
/// @param startSeconds time from the start of the processes to their first step
/// @param budget the parts of the time of a step
/// @param rounds number of rounds
/// @param host the machine
record TrainingFigure(
    String benchmark,
    String workload,
    int ranks,
    int batchPerRank,
    double samplesPerSecond,
    double oneRankSamplesPerSecond,
    double efficiency,
    double p50Micros,
    double p99Micros,
    double exposedShare,
    double startSeconds,
    Budget budget,
    int rounds,
    BenchmarkHost host) {

  /// The parts of the mean step in microseconds. Their sum is the step.
  ///
  /// @param aloneMicros time of a step of one rank alone
  /// @param besideMicros additional time of a rank's computation while other ranks compute
  /// @param communicatingMicros time of exposed communication
  /// @param waitingMicros waiting time for the rank that submits last
  record Budget(
      double aloneMicros, double besideMicros, double communicatingMicros, double waitingMicros) {}

  /// Summarizes rounds. Each round has one run of one rank and one of several ranks.
  static TrainingFigure of(
      TrainingTurn.Plan plan,
      List<TrainingTurn> alone,
      List<TrainingTurn> together,
      BenchmarkHost host) {
    int ranks = together.getFirst().ranks();
    double[] ratios = new double[alone.size()];
    for (int i = 0; i < ratios.length; i++) {
      ratios[i] = together.get(i).samplesPerSecond() / (ranks * alone.get(i).samplesPerSecond());
    }
    double one = median(alone, TrainingTurn::meanMicros);
    double step = median(together, TrainingTurn::meanMicros);
    double exposed = median(together, TrainingTurn::exposedShare);
    double waiting = median(together, TrainingTurn::waitShare);
    return new TrainingFigure(
        "training",
        plan.workload(),
        ranks,
        plan.batchPerRank(),
        median(together, TrainingTurn::samplesPerSecond),
        median(alone, TrainingTurn::samplesPerSecond),
        median(ratios),
        median(together, TrainingTurn::p50Micros),
        median(together, TrainingTurn::p99Micros),
        exposed,
        median(together, TrainingTurn::startSeconds),
        new Budget(one, step * (1 - exposed - waiting) - one, step * exposed, step * waiting),
        ratios.length,
        host);
  }

  private static double median(List<TrainingTurn> turns, ToDoubleFunction<TrainingTurn> of) {
    return median(turns.stream().mapToDouble(of).toArray());
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int half = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }

  /// Returns the figures as text.
  String text() {
    return String.format(
        Locale.ROOT,
        """
        %s, %d a rank, rounds: %d
          one rank       %,10.0f samples/s
          %3d ranks      %,10.0f samples/s, %.2f of %d times one
          step           p50 %,.0f us, p99 %,.0f us
          budget         %,.0f us as one rank alone, %+,.0f us due to other ranks, %,.0f us communicating (%.0f %%), %,.0f us waiting for a later rank
          start          %.1f s until the first step
        """,
        workload,
        batchPerRank,
        rounds,
        oneRankSamplesPerSecond,
        ranks,
        samplesPerSecond,
        efficiency,
        ranks,
        p50Micros,
        p99Micros,
        budget.aloneMicros(),
        budget.besideMicros(),
        budget.communicatingMicros(),
        100 * exposedShare,
        budget.waitingMicros(),
        startSeconds);
  }
}
