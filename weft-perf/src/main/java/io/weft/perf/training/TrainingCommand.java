// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.training;

import static io.weft.perf.training.TrainingRun.STEADY;

import io.weft.perf.experiment.Contestant;
import io.weft.perf.experiment.ContestantRounds;
import io.weft.perf.experiment.Experiment;
import io.weft.perf.experiment.ExperimentOutput;
import io.weft.perf.report.Figure;
import io.weft.workloads.report.MeasuredHost;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/// `weft perf training`: compares the training of several ranks with that of one rank.
@Command(
    name = "training",
    mixinStandardHelpOptions = true,
    description = {
      "Trains a workload with one rank, and with several ranks of equal batch each, in turn, by"
          + " 'weft train' with one computing thread a rank. The efficiency is the speed of N ranks"
          + " divided by N times that of one. Steps of the first five seconds do not count because"
          + " Java and TensorFlow compile in this time.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  weft perf training --workload mnist-dnn",
      "  weft perf training --workload mnist-dnn,adult-dnn --batch-per-rank 64 --json"
          + " figures.jsonl",
      "  weft perf training --workload mnist-cnn -np 2 --rounds 5 --seconds 30"
    })
public final class TrainingCommand extends Experiment {

  @Option(
      names = "--workload",
      paramLabel = "W",
      split = ",",
      required = true,
      description = "workloads of 'weft train', which are measured separately")
  private List<String> workloads = List.of();

  @Option(
      names = "--engine",
      paramLabel = "E",
      description = "engine of 'weft train': tensorflow or djl (default: that of the workload)")
  private @Nullable String engine;

  @Option(
      names = "-np",
      paramLabel = "N",
      defaultValue = "2",
      description = "ranks, on this host (default: ${DEFAULT-VALUE})")
  private int ranks;

  @Option(
      names = "--batch-per-rank",
      paramLabel = "B",
      defaultValue = "512",
      description = "examples of each rank in a step (default: ${DEFAULT-VALUE})")
  private int batchPerRank;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      defaultValue = "20",
      description =
          "seconds of training in each run, at least 6; the run ends with its current epoch"
              + " (default: ${DEFAULT-VALUE})")
  private double seconds;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "3",
      description = "runs of each, in turn (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Option(
      names = "--transport",
      paramLabel = "T",
      defaultValue = "auto",
      description = "transport of 'weft train' (default: ${DEFAULT-VALUE})")
  private String transport = "auto";

  /// For picocli.
  public TrainingCommand() {}

  @Override
  protected void measure(ExperimentOutput output) throws InterruptedException {
    within("-np", ranks, 2, MOST_RANKS);
    within("--batch-per-rank", batchPerRank, 1, (1 << 20) / ranks);
    within("--rounds", rounds, 1, 1000);
    if (!(seconds >= 6 && seconds <= 3600)) {
      throw new IllegalArgumentException(
          "--seconds: " + seconds + " is out of range; allowed: 6 to 3600");
    }
    for (String workload : workloads) {
      MeasuredHost host = MeasuredHost.here();
      var run =
          new TrainingRun(
              workload, Optional.ofNullable(engine), batchPerRank, seconds, transport, limit());
      List<ContestantRounds> ran =
          output.rounds(
              workload + ": ",
              rounds,
              List.of(
                  new Contestant("1 rank", () -> run.run(1)),
                  new Contestant(ranks + " ranks", () -> run.run(ranks))));
      Figure figure = figure(run, ranks, ran.getFirst(), ran.getLast(), host);
      output.add(List.of(figure), text(figure));
    }
  }

  /// Summarizes rounds by medians. Each round has one run of one rank and one of several ranks. The
  /// efficiency is the rate of all ranks divided by `ranks` times that of one. The budget divides
  /// the mean step into the step of one rank alone, the additional computation while other ranks
  /// compute, exposed communication, and waiting for the rank that submits last.
  static Figure figure(
      TrainingRun run,
      int ranks,
      ContestantRounds alone,
      ContestantRounds together,
      MeasuredHost host) {
    List<Double> rates = together.numbers(STEADY, "samplesPerSecond");
    List<Double> ones = alone.numbers(STEADY, "samplesPerSecond");
    double one = alone.median(STEADY, "meanMicros");
    double step = together.median(STEADY, "meanMicros");
    double exposed = together.median(STEADY, "exposedShare");
    double waiting = together.median(STEADY, "waitShare");
    Figure named = Figure.of("training").with("workload", run.workload());
    return run.engine()
        .map(engine -> named.with("engine", engine))
        .orElse(named)
        .with("ranks", ranks)
        .with("batchPerRank", run.batchPerRank())
        .with("samplesPerSecond", Figure.median(rates))
        .with("oneRankSamplesPerSecond", Figure.median(ones))
        .with(
            "efficiency",
            Figure.median(
                IntStream.range(0, ones.size())
                    .mapToObj(round -> rates.get(round) / (ranks * ones.get(round)))
                    .toList()))
        .with("p50Micros", together.median(STEADY, "p50Micros"))
        .with("p99Micros", together.median(STEADY, "p99Micros"))
        .with("exposedShare", exposed)
        .with("startSeconds", together.median(STEADY, "startSeconds"))
        .with(
            "budget",
            new Figure(Map.of("aloneMicros", one))
                .with("besideMicros", step * (1 - exposed - waiting) - one)
                .with("communicatingMicros", step * exposed)
                .with("waitingMicros", step * waiting))
        .with("rounds", ones.size())
        .with("host", host);
  }

  /// Returns the figures as text.
  static String text(Figure figure) {
    Figure budget = figure.part("budget");
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
        figure.text("workload"),
        figure.integer("batchPerRank"),
        figure.integer("rounds"),
        figure.number("oneRankSamplesPerSecond"),
        figure.integer("ranks"),
        figure.number("samplesPerSecond"),
        figure.number("efficiency"),
        figure.integer("ranks"),
        figure.number("p50Micros"),
        figure.number("p99Micros"),
        budget.number("aloneMicros"),
        budget.number("besideMicros"),
        budget.number("communicatingMicros"),
        100 * figure.number("exposedShare"),
        budget.number("waitingMicros"),
        figure.number("startSeconds"));
  }
}
