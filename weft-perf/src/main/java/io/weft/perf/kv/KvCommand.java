// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import io.weft.comm.CommException;
import io.weft.file.NewFile;
import io.weft.kv.spec.TableSpec;
import io.weft.perf.process.CarrierOptions;
import io.weft.perf.process.LocalRanks;
import io.weft.perf.process.PerfException;
import io.weft.perf.report.BenchmarkHost;
import io.weft.perf.report.JsonLines;
import io.weft.perf.report.ReportFile;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/// `weft perf kv`: the parameter server by keys. Exit code 0 done, 1 it failed or a value was
/// wrong, 2 wrong command line.
@Command(
    name = "kv",
    mixinStandardHelpOptions = true,
    description = {
      "Measures the parameter server by keys: workers push ascending keys with their values to"
          + " servers, or pull them, all in processes of their own on this host. The list of keys"
          + " is sent once and named then. All values are compared at the end. Beside it stands a"
          + " copy of as many bytes in the memory of one process.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  weft perf kv --pairs 100000 --op push",
      "  weft perf kv --pairs 100000 --op push --window 16 --workers 2 --servers 2",
      "  weft perf kv --pairs 1 --dim 16 --op pull --transport shm"
    })
public final class KvCommand implements Callable<Integer> {

  private static final long OVERHEAD_BYTES = 1L << 30;
  private static final int MOST_RANKS = 180;
  private static final long MOST_BYTES = 1L << 30;

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--pairs",
      paramLabel = "N",
      defaultValue = "100000",
      description = "keys of each request (default: ${DEFAULT-VALUE})")
  private int pairs;

  @Option(
      names = "--dim",
      paramLabel = "D",
      defaultValue = "1",
      description = "floats of each key (default: ${DEFAULT-VALUE})")
  private int dim;

  @Option(
      names = "--op",
      paramLabel = "OP",
      defaultValue = "push",
      description = "push, pull or pushpull (default: ${DEFAULT-VALUE})")
  private String op = "push";

  @Option(
      names = "--window",
      paramLabel = "W",
      defaultValue = "1",
      description = "requests that a worker has under way at once (default: ${DEFAULT-VALUE})")
  private int window;

  @Option(
      names = "--workers",
      paramLabel = "W",
      defaultValue = "1",
      description = "workers (default: ${DEFAULT-VALUE})")
  private int workers;

  @Option(
      names = "--servers",
      paramLabel = "M",
      defaultValue = "1",
      description = "servers (default: ${DEFAULT-VALUE})")
  private int servers;

  @Option(
      names = "--requests",
      paramLabel = "N",
      defaultValue = "2000",
      description = "timed requests of each worker (default: ${DEFAULT-VALUE})")
  private int requests;

  @Option(
      names = "--limit",
      paramLabel = "S",
      defaultValue = "300",
      description = "seconds that it may take (default: ${DEFAULT-VALUE})")
  private long limitSeconds;

  @Mixin private CarrierOptions carrier = new CarrierOptions();

  @Option(names = "--json", paramLabel = "FILE", description = "write one JSON object per line")
  private @Nullable Path json;

  /// For picocli.
  public KvCommand() {}

  @Override
  public Integer call() throws InterruptedException {
    CommandSpec command = Objects.requireNonNull(spec, "picocli sets the spec");
    PrintWriter out = command.commandLine().getOut();
    PrintWriter err = command.commandLine().getErr();
    try {
      KvPlan plan = plan();
      List<KvFigure> figures = measure(plan);
      figures.forEach(it -> out.print(it.text()));
      out.flush();
      Path file = json;
      boolean kept =
          file == null
              || new ReportFile("--json", file).write(to -> JsonLines.write(to, figures), err);
      boolean right = figures.stream().noneMatch(it -> Boolean.FALSE.equals(it.checked()));
      return kept && right ? 0 : 1;
    } catch (IllegalArgumentException | CommException.Setup e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    } catch (PerfException.Missing | PerfException.Failed e) {
      err.println("weft: " + e.getMessage());
      return e instanceof PerfException.Missing ? 3 : 1;
    }
  }

  private List<KvFigure> measure(KvPlan plan) throws InterruptedException {
    BenchmarkHost host = BenchmarkHost.here();
    var ranks = new LocalRanks(KvRank.class, workers + servers, OVERHEAD_BYTES + 16 * plan.bytes());
    String transport = carrier.transport();
    List<String> lines =
        ranks.run(transport, carrier.secure(), plan.words(), Duration.ofSeconds(limitSeconds));
    return KvFigure.parse(plan, transport, lines, host);
  }

  private KvPlan plan() {
    within("--pairs", pairs, 1, 10_000_000);
    within("--dim", dim, 1, TableSpec.MAX_WIDTH);
    within("--window", window, 1, 256);
    within("--workers", workers, 1, MOST_RANKS - 1);
    within("--servers", servers, 1, MOST_RANKS - workers);
    within("--requests", requests, 1, 1_000_000);
    within("--limit", limitSeconds, 1, 86_400);
    within("--pairs times --dim, in bytes", 4L * pairs * dim, 4, MOST_BYTES);
    Path file = json;
    if (file != null) {
      NewFile.obstacle(file)
          .ifPresent(
              why -> {
                throw new IllegalArgumentException("cannot write " + file + ": " + why);
              });
    }
    return new KvPlan(KvPlan.Op.parse(op), pairs, dim, window, workers, servers, requests);
  }

  private static void within(String option, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "%s: %d is out of range; allowed: %d to %d".formatted(option, value, least, most));
    }
  }
}
