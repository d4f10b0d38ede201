// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import io.weft.comm.CommException;
import io.weft.config.OptionType;
import io.weft.file.NewFile;
import io.weft.kv.spec.TableSpec;
import io.weft.perf.kv.KvPlan.Subject;
import io.weft.perf.process.CarrierOptions;
import io.weft.perf.process.LocalRanks;
import io.weft.perf.process.PerfException;
import io.weft.perf.report.BenchmarkHost;
import io.weft.perf.report.JsonLines;
import io.weft.perf.report.ReportFile;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
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
      "Measures the parameter server by keys: workers push to servers or pull from them, all in"
          + " processes of their own on this host. What travels is one of three:",
      "--pairs: ascending keys with their values, the same in each request; the list is sent once"
          + " and named then.",
      "--value: one dense tensor.",
      "--rows: rows of a sparse table by keys of which few come often, others in each request.",
      "All values are compared at the end. Beside it stand a copy of as many bytes in the memory of"
          + " one process, and over tcp a plain socket; peers take turns with Weft.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  weft perf kv --pairs 100000 --op push",
      "  weft perf kv --pairs 100000 --op push --window 16 --workers 2 --servers 2",
      "  weft perf kv --value 4M --op pull --transport shm",
      "  weft perf kv --rows 1000000 --dim 64 --zipf 1.05 --op update --peer hazelcast"
    })
public final class KvCommand implements Callable<Integer> {

  private static final long OVERHEAD_BYTES = 1L << 30;
  private static final int MOST_RANKS = 180;
  private static final long MOST_BYTES = 1L << 30;
  private static final int ROWS_OF_A_REQUEST = 4096;
  private static final int PAIRS_OF_A_REQUEST = 100_000;

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--pairs",
      paramLabel = "N",
      description = "keys of each request (default: 100000; of --rows 4096)")
  private @Nullable Integer pairs;

  @Option(
      names = "--value",
      paramLabel = "SIZE",
      description = "bytes of one dense tensor, 4 to 1G, such as 64, 4M")
  private @Nullable String value;

  @Option(names = "--rows", paramLabel = "N", description = "rows of a sparse table")
  private @Nullable Integer rows;

  @Option(
      names = "--zipf",
      paramLabel = "Z",
      defaultValue = "1.05",
      description =
          "of --rows: the k-th most frequent key has a share that falls with this power of k"
              + " (default: ${DEFAULT-VALUE})")
  private double zipf;

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
      description =
          "push, pull or pushpull; of --rows lookup or update (default: ${DEFAULT-VALUE})")
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

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "1",
      description = "rounds in which Weft and its peers take turns (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Option(
      names = "--peer",
      paramLabel = "PEER",
      split = ",",
      description =
          "who runs beside Weft, one client and one server over tcp: hazelcast (an entry processor"
              + " for all keys of a push) and flight-rocksdb (RocksDB behind Arrow Flight); each"
              + " for at most 10 seconds a round")
  private List<String> peers = List.of();

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
      List<KvFigure> figures = measure(plan, err);
      figures.forEach(it -> out.print(it.text()));
      ratios(figures).forEach(out::println);
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

  private List<KvFigure> measure(KvPlan plan, PrintWriter err) throws InterruptedException {
    BenchmarkHost host = BenchmarkHost.here();
    Map<String, List<KvRun>> runs = new LinkedHashMap<>();
    for (int round = 1; round <= rounds; round++) {
      if (rounds > 1) {
        err.println("round " + round + " of " + rounds);
        err.flush();
      }
      runs.computeIfAbsent("weft", it -> new ArrayList<>()).add(weft(plan));
      for (String peer : peers) {
        runs.computeIfAbsent(peer, it -> new ArrayList<>())
            .add(StorePeer.parse(peer).run(plan, Duration.ofSeconds(limitSeconds)));
      }
    }
    List<KvFigure> figures = new ArrayList<>();
    runs.forEach(
        (name, all) ->
            figures.add(
                KvFigure.of(
                    plan,
                    name,
                    name.equals("weft") ? carrier.transport() : "tcp",
                    all,
                    all.stream().allMatch(KvRun::checked),
                    host)));
    List<KvRun> own = Objects.requireNonNull(runs.get("weft"));
    beside(figures, plan, "memcpy", own.stream().mapToLong(KvRun::copy).toArray(), host);
    beside(figures, plan, "loopback", own.stream().mapToLong(KvRun::loopback).toArray(), host);
    return figures;
  }

  private void beside(
      List<KvFigure> figures, KvPlan plan, String what, long[] nanos, BenchmarkHost host) {
    long total = Arrays.stream(nanos).sum();
    if (total > 0) {
      var one = new KvPlan(plan.op(), plan.subject(), 1, 1, 1, nanos.length);
      figures.add(
          KvFigure.of(
              one, what, carrier.transport(), List.of(KvRun.of(nanos, total, true)), null, host));
    }
  }

  private KvRun weft(KvPlan plan) throws InterruptedException {
    var ranks = new LocalRanks(KvRank.class, workers + servers, OVERHEAD_BYTES + 16 * plan.bytes());
    List<String> lines =
        ranks.run(
            carrier.transport(), carrier.secure(), plan.words(), Duration.ofSeconds(limitSeconds));
    return KvRun.parse(lines);
  }

  /// How many times as fast as each peer.
  private static List<String> ratios(List<KvFigure> figures) {
    KvFigure own = figures.getFirst();
    return figures.stream()
        .skip(1)
        .filter(it -> it.checked() != null)
        .map(
            it ->
                String.format(
                    Locale.ROOT,
                    "%s: weft takes 1 / %.1f of the time of %s, at %.1f times its rate",
                    own.op(),
                    it.p50Micros() / own.p50Micros(),
                    it.peer(),
                    own.rowsPerSecond() / it.rowsPerSecond()))
        .toList();
  }

  private KvPlan plan() {
    within("--window", window, 1, 256);
    within("--workers", workers, 1, MOST_RANKS - 1);
    within("--servers", servers, 1, MOST_RANKS - workers);
    within("--requests", requests, 1, 1_000_000);
    within("--rounds", rounds, 1, 1000);
    within("--limit", limitSeconds, 1, 86_400);
    KvPlan.Op what = KvPlan.Op.parse(op);
    Subject subject = subject();
    boolean sparse = what == KvPlan.Op.LOOKUP || what == KvPlan.Op.UPDATE;
    if (sparse != subject instanceof Subject.Rows) {
      throw new IllegalArgumentException(
          "--op " + op + ": lookup and update are of --rows, all else is not");
    }
    KvPlan plan = new KvPlan(what, subject, window, workers, servers, requests);
    within("the values of a request, in bytes", plan.bytes(), 4, MOST_BYTES);
    for (String peer : peers) {
      check(peer, subject);
    }
    Path file = json;
    if (file != null) {
      NewFile.obstacle(file)
          .ifPresent(
              why -> {
                throw new IllegalArgumentException("cannot write " + file + ": " + why);
              });
    }
    return plan;
  }

  private void check(String peer, Subject subject) {
    StorePeer known = StorePeer.parse(peer);
    if (workers != 1 || servers != 1 || subject instanceof Subject.Tensor) {
      throw new IllegalArgumentException(
          "--peer "
              + known.word()
              + ": peers run with one worker and one server, and have no dense tensors; give"
              + " --pairs or --rows");
    }
  }

  private static long bytes(String text) {
    String why;
    try {
      long bytes = OptionType.bytes(4, MOST_BYTES).parse(text);
      if (bytes % 4 == 0) {
        return bytes;
      }
      why = "it is not a number of 32-bit floats";
    } catch (IllegalArgumentException wrong) {
      why = String.valueOf(wrong.getMessage());
    }
    throw new IllegalArgumentException("--value: '" + text + "': " + why);
  }

  private Subject subject() {
    if (value != null) {
      if (rows != null || pairs != null) {
        throw new IllegalArgumentException("--value: it is one of --value, --pairs and --rows");
      }
      return new Subject.Tensor(bytes(value) / 4);
    }
    within("--dim", dim, 1, TableSpec.MAX_WIDTH);
    int keys = pairs != null ? pairs : rows != null ? ROWS_OF_A_REQUEST : PAIRS_OF_A_REQUEST;
    if (rows == null) {
      within("--pairs", keys, 1, 10_000_000);
      return new Subject.Pairs(keys, dim);
    }
    within("--pairs", keys, 1, PAIRS_OF_A_REQUEST);
    within("--rows", rows, 1, 100_000_000);
    if (!(zipf >= 0 && zipf <= 10)) {
      throw new IllegalArgumentException("--zipf: " + zipf + " is out of range; allowed: 0 to 10");
    }
    return new Subject.Rows(keys, dim, rows, zipf);
  }

  private static void within(String option, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "%s: %d is out of range; allowed: %d to %d".formatted(option, value, least, most));
    }
  }
}
