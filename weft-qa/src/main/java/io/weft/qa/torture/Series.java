// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import io.weft.transport.limit.ClampedDuration;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/// The repetitions of a fault scenario with all kinds of harm in turn.
///
/// @param times number of repetitions of each kind of harm
/// @param seed seed of the first repetition of each kind, which later ones increment
/// @param limit time after which no repetition begins
/// @param record file of outcomes; recorded repetitions are skipped
record Series(
    FaultScenario scenario,
    Map<Harm, Integer> times,
    long seed,
    Duration limit,
    Optional<Path> record) {

  Series {
    times = new TreeMap<>(times);
  }

  /// Runs the missing repetitions. Returns all outcomes, beginning with the recorded ones.
  ///
  /// @param out receives the failed outcomes
  /// @param progress receives all outcomes with the estimated remaining time
  List<JobOutcome> run(PrintStream out, PrintStream progress)
      throws IOException, InterruptedException {
    List<JobOutcome> outcomes = new ArrayList<>(recorded());
    List<Map.Entry<Harm, Long>> missing = missing(outcomes);
    long began = System.nanoTime();
    int done = 0;
    for (Map.Entry<Harm, Long> next : missing) {
      long spent = System.nanoTime() - began;
      if (spent > ClampedDuration.nanos(limit)) {
        break;
      }
      JobOutcome outcome = new Repetition(scenario, next.getKey(), next.getValue()).run();
      done++;
      outcomes.add(outcome);
      if (record.isPresent()) {
        Files.writeString(
            record.get(),
            outcome.json() + "\n",
            StandardOpenOption.CREATE,
            StandardOpenOption.APPEND);
      }
      tell(progress, outcome, done, missing.size(), System.nanoTime() - began);
      if (!outcome.good()) {
        complain(out, outcome);
      }
    }
    return outcomes;
  }

  private static void tell(
      PrintStream progress, JobOutcome outcome, int done, int all, long nanos) {
    long left = nanos / done * (all - done) / 1_000_000_000;
    progress.printf(
        Locale.ROOT, "%d/%d, %d:%02d left: %s%n", done, all, left / 60, left % 60, outcome);
  }

  private void complain(PrintStream out, JobOutcome outcome) {
    out.println(outcome);
    out.printf(
        Locale.ROOT,
        "  repeat: --harm %s --seed %d; its files: %s%n",
        outcome.harm().word(),
        outcome.seed(),
        scenario.directory());
  }

  private List<Map.Entry<Harm, Long>> missing(List<JobOutcome> outcomes) {
    Map<Harm, List<Long>> known = new HashMap<>();
    for (JobOutcome outcome : outcomes) {
      known.computeIfAbsent(outcome.harm(), harm -> new ArrayList<>()).add(outcome.seed());
    }
    List<Map.Entry<Harm, Long>> missing = new ArrayList<>();
    int most = times.values().stream().mapToInt(Integer::intValue).max().orElse(0);
    for (int time = 0; time < most; time++) {
      for (Map.Entry<Harm, Integer> kind : times.entrySet()) {
        long next = seed + time;
        if (time < kind.getValue()
            && !known.getOrDefault(kind.getKey(), List.of()).contains(next)) {
          missing.add(Map.entry(kind.getKey(), next));
        }
      }
    }
    return missing;
  }

  private List<JobOutcome> recorded() throws IOException {
    if (record.isEmpty()) {
      return List.of();
    }
    try {
      return Files.readAllLines(record.get()).stream()
          .map(JobOutcome::parse)
          .flatMap(Optional::stream)
          .toList();
    } catch (NoSuchFileException none) {
      return List.of();
    }
  }
}
