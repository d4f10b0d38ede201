// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.campaign;

import io.weft.qa.campaign.RunCheck.Expectation;
import io.weft.testkit.sim.FaultScript;
import io.weft.testkit.sim.FaultScript.SimFaultKind;
import io.weft.testkit.sim.SimReport;
import io.weft.testkit.sim.network.Tamper;
import io.weft.transport.limit.ClampedDuration;
import java.io.PrintStream;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/// The program of `tools/simulate faults`. It runs jobs of 16 ranks with random work and random
/// faults sequentially. For each seed with an error it prints a line that replays the job.
public final class FaultRuns {

  private static final int LINES_BETWEEN = 500;
  private static final int MOST_FAULTS = 3;
  private static final String USAGE =
      """
      faults [--runs N] [--seed S] [--kind K[,K...]] [--most M] [--shrink] [--each]
        --runs N    number of jobs (default 100)
        --seed S    seed of the first job, incremented for each job (default 1)
        --kind K    kinds of faults (default: all), see below
        --most M    maximum number of faults in a job (default 3)
        --shrink    only crashes of ranks and hosts; the survivors continue in the next epoch
        --each      print a line for each job: seed, faults, ends of the ranks, hash
        --trace L   print the last L events of a job with an error
      """;

  private final PrintStream out;
  private int runs = 100;
  private long seed = 1;
  private List<SimFaultKind> kinds = List.of(SimFaultKind.values());
  private int most = MOST_FAULTS;
  private boolean shrink;
  private boolean each;
  private int traceLines;
  private long failedRanks;
  private long returnedRanks;
  private int clean;

  private FaultRuns(PrintStream out) {
    this.out = out;
  }

  /// Runs the jobs and prints the results, see `--help`. Returns 1 after an error. Throws
  /// `IllegalArgumentException` for wrong arguments.
  public static int run(List<String> arguments, PrintStream out) throws InterruptedException {
    FaultRuns program = new FaultRuns(out);
    return program.parse(arguments) ? program.run() : 0;
  }

  private boolean parse(List<String> arguments) {
    for (int i = 0; i < arguments.size(); i++) {
      String option = arguments.get(i);
      switch (option) {
        case "--shrink" -> shrink = true;
        case "--each" -> each = true;
        case "--help" -> {
          out.println(USAGE + "kinds: " + kindNames());
          return false;
        }
        case "--runs" -> runs = Math.toIntExact(number(arguments, ++i));
        case "--seed" -> seed = number(arguments, ++i);
        case "--most" -> most = Math.toIntExact(number(arguments, ++i));
        case "--trace" -> traceLines = Math.toIntExact(number(arguments, ++i));
        case "--kind" -> kinds = kinds(value(arguments, ++i));
        default -> throw new IllegalArgumentException("unknown option " + option);
      }
    }
    if (most < 1) {
      throw new IllegalArgumentException("--most " + most);
    }
    return true;
  }

  private static String value(List<String> arguments, int at) {
    if (at == arguments.size()) {
      throw new IllegalArgumentException(arguments.getLast() + " needs a value");
    }
    return arguments.get(at);
  }

  private static long number(List<String> arguments, int at) {
    String text = value(arguments, at);
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException e) {
      throw new IllegalArgumentException(text + " is not a number", e);
    }
  }

  private static List<SimFaultKind> kinds(String names) {
    return Arrays.stream(names.split(","))
        .map(
            name ->
                Arrays.stream(SimFaultKind.values())
                    .filter(kind -> text(kind).equals(name))
                    .findFirst()
                    .orElseThrow(
                        () ->
                            new IllegalArgumentException(
                                "unknown kind of fault '" + name + "'; allowed: " + kindNames())))
        .toList();
  }

  private static String text(SimFaultKind kind) {
    return kind.name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  private static String kindNames() {
    return Arrays.stream(SimFaultKind.values())
        .map(FaultRuns::text)
        .collect(Collectors.joining(", "));
  }

  private int run() throws InterruptedException {
    long start = System.nanoTime();
    for (int done = 0; done < runs; done++) {
      if (done > 0 && done % LINES_BETWEEN == 0) {
        summary(done, start);
      }
      long of = seed + done;
      List<String> wrong = run(of);
      if (wrong.isEmpty()) {
        clean++;
      } else {
        out.println("seed " + of + ": " + wrong.size() + " wrong; replay: " + replay(of));
        wrong.forEach(line -> out.println("  " + line));
      }
    }
    summary(runs, start);
    return clean == runs ? 0 : 1;
  }

  private List<String> run(long of) throws InterruptedException {
    SimReport<?> report;
    List<String> wrong;
    if (shrink) {
      SimReport<ShrinkRun.Survivor> survivors =
          ShrinkRun.run(of, ShrinkRun.script(of), Tamper.NONE);
      wrong = ShrinkRun.verdict(survivors);
      report = survivors;
    } else {
      FaultScript script = FaultRun.script(of, kinds, most);
      report =
          FaultRun.run(of, FaultRun.simulation(of, script, Tamper.NONE).traceLines(traceLines));
      wrong = RunCheck.on(report, Expectation.FAILURES);
    }
    long returned = report.outcomes().stream().filter(RunCheck::returned).count();
    returnedRanks += returned;
    failedRanks += report.outcomes().size() - returned;
    if (each) {
      out.printf(
          Locale.ROOT,
          "seed %d: %d of %d ranks returned, %.3f s, %d events, hash %s, %s%n",
          of,
          returned,
          report.outcomes().size(),
          ClampedDuration.nanos(report.virtual()) / 1e9,
          report.trace().events(),
          report.trace().hash(),
          report.faults());
    }
    if (!wrong.isEmpty() && traceLines > 0) {
      out.println(report.summary() + report.trace());
    }
    return wrong;
  }

  private String replay(long of) {
    String text = "tools/simulate faults --runs 1 --each --seed " + of;
    if (shrink) {
      return text + " --shrink";
    }
    if (kinds.size() < SimFaultKind.values().length) {
      text += " --kind " + kinds.stream().map(FaultRuns::text).collect(Collectors.joining(","));
    }
    return most == MOST_FAULTS ? text : text + " --most " + most;
  }

  private void summary(int done, long start) {
    out.printf(
        Locale.ROOT,
        "%d runs, seeds %d to %d: %d correct, %d wrong; of their ranks %d returned, %d"
            + " failed or died; %.0f s%n",
        done,
        seed,
        seed + done - 1,
        clean,
        done - clean,
        returnedRanks,
        failedRanks,
        (System.nanoTime() - start) / 1e9);
  }
}
