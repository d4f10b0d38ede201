// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.training;

import io.weft.file.NewFile;
import io.weft.perf.process.PerfException;
import io.weft.perf.report.BenchmarkHost;
import io.weft.perf.report.JsonLines;
import io.weft.perf.report.PerfProgress;
import io.weft.perf.report.ReportFile;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `weft perf training`: compares the training of several ranks with that of one rank. Exits with 0
/// on success, 1 if a run failed, 2 for a wrong command line.
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
public final class TrainingCommand implements Callable<Integer> {

  private static final int MOST_RANKS = 180;

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--workload",
      paramLabel = "W",
      split = ",",
      required = true,
      description = "workloads of 'weft train', which are measured separately")
  private List<String> workloads = List.of();

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
      names = "--limit",
      paramLabel = "S",
      defaultValue = "300",
      description = "seconds that one run may take (default: ${DEFAULT-VALUE})")
  private long limitSeconds;

  @Option(
      names = "--transport",
      paramLabel = "T",
      defaultValue = "auto",
      description = "transport of 'weft train' (default: ${DEFAULT-VALUE})")
  private String transport = "auto";

  @Option(names = "--json", paramLabel = "FILE", description = "write one JSON object per line")
  private @Nullable Path json;

  /// For picocli.
  public TrainingCommand() {}

  @Override
  public Integer call() throws InterruptedException {
    CommandSpec command = Objects.requireNonNull(spec, "picocli sets the spec");
    PrintWriter out = command.commandLine().getOut();
    PrintWriter err = command.commandLine().getErr();
    try {
      check();
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    }
    List<TrainingFigure> figures = new ArrayList<>();
    int code = 0;
    try {
      for (String workload : workloads) {
        TrainingFigure figure = measure(workload, err);
        figures.add(figure);
        out.print(figure.text());
        out.flush();
      }
    } catch (PerfException.Failed e) {
      err.println("weft: " + e.getMessage());
      code = 1;
    }
    if (json != null
        && !new ReportFile("--json", json).write(to -> JsonLines.write(to, figures), err)) {
      code = 1;
    }
    return code;
  }

  private void check() {
    within("-np", ranks, 2, MOST_RANKS);
    within("--batch-per-rank", batchPerRank, 1, (1 << 20) / ranks);
    within("--rounds", rounds, 1, 1000);
    within("--limit", limitSeconds, 1, 86_400);
    if (!(seconds >= 6 && seconds <= 3600)) {
      throw new IllegalArgumentException(
          "--seconds: " + seconds + " is out of range; allowed: 6 to 3600");
    }
    Optional<String> obstacle = json == null ? Optional.empty() : NewFile.obstacle(json);
    if (obstacle.isPresent()) {
      throw new IllegalArgumentException("--json: cannot write " + json + ": " + obstacle.get());
    }
  }

  private static void within(String option, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "%s: %d is out of range; allowed: %d to %d".formatted(option, value, least, most));
    }
  }

  private TrainingFigure measure(String workload, PrintWriter err) throws InterruptedException {
    BenchmarkHost host = BenchmarkHost.here();
    var plan =
        new TrainingTurn.Plan(
            workload,
            batchPerRank,
            seconds,
            List.of("--transport", transport),
            Duration.ofSeconds(limitSeconds));
    List<TrainingTurn> alone = new ArrayList<>();
    List<TrainingTurn> together = new ArrayList<>();
    try (PerfProgress progress = PerfProgress.to(err)) {
      for (int round = 1; round <= rounds; round++) {
        progress.accept(words(workload, round, 1));
        alone.add(TrainingTurn.run(plan, 1));
        progress.accept(words(workload, round, ranks));
        together.add(TrainingTurn.run(plan, ranks));
      }
    }
    return TrainingFigure.of(plan, alone, together, host);
  }

  private String words(String workload, int round, int count) {
    return "%s: round %d of %d, %d rank%s"
        .formatted(workload, round, rounds, count, count == 1 ? "" : "s");
  }
}
