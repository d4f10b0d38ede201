// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import io.weft.comm.CommException;
import io.weft.config.OptionType;
import io.weft.file.NewFile;
import io.weft.kv.spec.Retention;
import io.weft.kv.spec.TableSpec;
import io.weft.perf.kv.KvCase.Clients;
import io.weft.perf.kv.KvPlan.Subject;
import io.weft.perf.process.CarrierOptions;
import io.weft.perf.process.PerfException;
import io.weft.perf.process.UsableTransport;
import io.weft.perf.report.BenchmarkHost;
import io.weft.perf.report.JsonLines;
import io.weft.perf.report.PerfProgress;
import io.weft.perf.report.Picture;
import io.weft.perf.report.ReportFile;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
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

/// `weft perf kv`: measures the parameter server by keys. Exits with 0 on success, 1 if a
/// measurement failed or a value was wrong, 2 for a wrong command line, 3 if a requirement is
/// missing.
@Command(
    name = "kv",
    mixinStandardHelpOptions = true,
    description = {
      "Measures the parameter server by keys: workers push to servers or pull from them, each in a"
          + " separate process on this host. --workers, --window and --transport take lists; the"
          + " workers of a list share one process. The values of a request are one of three:",
      "--pairs: ascending keys with their values, equal in each request; the list of keys is sent"
          + " once and then named by a number.",
      "--value: one dense tensor.",
      "--rows: rows of a sparse table by skewed keys, which differ in each request.",
      "All values are compared at the end. The report also shows the time of copying the same bytes"
          + " within one process and, over tcp, through a plain socket. Peers take turns with"
          + " Weft.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  weft perf kv --pairs 100000 --op push",
      "  weft perf kv --pairs 100000 --op push --window 16 --workers 2 --servers 2",
      "  weft perf kv --value 4M --op pull --transport shm",
      "  weft perf kv --workers 1,2,4,8,16,32 --window 1,16 --transport tcp,shm --plot kv.png",
      "  weft perf kv --rows 1000000 --dim 64 --zipf 1.05 --op update --peer hazelcast",
      "  weft perf kv --rows 1000000 --dim 64 --op lookup --spill-beyond 28M"
    })
public final class KvCommand implements Callable<Integer> {

  private static final int MOST_RANKS = 180;
  private static final long MOST_BYTES = 1L << 30;

  /// The limit up to which 32-bit floats are exact integers.
  private static final long EXACT = 1 << 24;

  private static final int ROWS_OF_A_REQUEST = 4096;
  private static final int PAIRS_OF_A_REQUEST = 100_000;

  @Spec private @Nullable CommandSpec spec;

  @Option(
      names = "--pairs",
      paramLabel = "N",
      description = "keys of each request (default: 100000; with --rows 4096)")
  private @Nullable Integer pairs;

  @Option(
      names = "--value",
      paramLabel = "SIZE",
      description = "bytes of one dense tensor, 4 to 1G, such as 64, 4M")
  private @Nullable String value;

  @Option(names = "--rows", paramLabel = "N", description = "rows of a sparse table")
  private @Nullable Integer rows;

  @Option(
      names = "--spill-beyond",
      paramLabel = "SIZE",
      description =
          "with --rows: bytes of rows that a server keeps in memory, at least 64K; other rows lie"
              + " on its disk, in kv-spill-directory or else the directory of temporary files")
  private @Nullable String spillBeyond;

  @Option(
      names = "--zipf",
      paramLabel = "Z",
      defaultValue = "1.05",
      description =
          "with --rows: exponent of the Zipf distribution of the keys"
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
          "push, pull or pushpull; with --rows lookup or update (default: ${DEFAULT-VALUE})")
  private String op = "push";

  @Option(
      names = "--window",
      paramLabel = "W",
      split = ",",
      defaultValue = "1",
      description =
          "requests that a worker keeps in flight; each number of a list is measured"
              + " (default: ${DEFAULT-VALUE})")
  private List<Integer> windows = List.of();

  @Option(
      names = "--workers",
      paramLabel = "W",
      split = ",",
      defaultValue = "1",
      description =
          "workers; each number of a list is measured with all workers in one process, each a rank"
              + " with private connections and threads (default: ${DEFAULT-VALUE})")
  private List<Integer> workers = List.of();

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
      description =
          "seconds that one measurement, or one round of it, may take (default: ${DEFAULT-VALUE})")
  private long limitSeconds;

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "1",
      description =
          "rounds in which Weft and its peers take turns; 0 skips measuring, for --simulated"
              + " (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Option(
      names = "--peer",
      paramLabel = "PEER",
      split = ",",
      description =
          "systems to compare with, by one client and one server over tcp: hazelcast (one entry"
              + " processor for all keys of a push) and flight-rocksdb (RocksDB behind Arrow"
              + " Flight); with --value ps-lite (its own program, --ps-lite); each runs for at most"
              + " 10 seconds a round")
  private List<String> peers = List.of();

  @Option(
      names = "--ps-lite",
      paramLabel = "PATH",
      description = "with --peer ps-lite: its program test_benchmark, built with ps-lite's tests")
  private @Nullable Path psLite;

  @Mixin private CarrierOptions carrier = new CarrierOptions();

  @Option(names = "--json", paramLabel = "FILE", description = "write one JSON object per line")
  private @Nullable Path json;

  @Option(
      names = "--plot",
      paramLabel = "FILE",
      description =
          "draw requests a second and latency over the number of workers; FILE ends in .svg or"
              + " .png")
  private @Nullable Path plot;

  @Option(
      names = "--simulated",
      paramLabel = "FILE",
      description = "also draw the output of 'tools/simulate kv --json'")
  private @Nullable Path simulated;

  /// For picocli.
  public KvCommand() {}

  @Override
  public Integer call() throws InterruptedException {
    CommandSpec command = Objects.requireNonNull(spec, "picocli sets the spec");
    PrintWriter out = command.commandLine().getOut();
    PrintWriter err = command.commandLine().getErr();
    try {
      List<KvCase> cases = cases();
      List<KvPoint> drawn = simulated == null ? List.of() : KvPoint.simulated(simulated);
      List<KvFigure> figures = new ArrayList<>();
      int code = rounds == 0 ? 0 : measure(cases, figures, out, err);
      new KvSummary(figures).lines().forEach(out::println);
      out.flush();
      return save(figures, drawn, err) ? code : 1;
    } catch (IllegalArgumentException | CommException.Setup e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    } catch (PerfException.Missing e) {
      err.println("weft: " + e.getMessage());
      return 3;
    }
  }

  /// Adds the figures and prints each at once, so that the earlier ones remain if a later case
  /// fails.
  private int measure(List<KvCase> cases, List<KvFigure> figures, PrintWriter out, PrintWriter err)
      throws InterruptedException {
    BenchmarkHost host = BenchmarkHost.here();
    try {
      for (int i = 0; i < cases.size(); i++) {
        List<KvFigure> measured = one(cases.get(i), (i + 1) + " of " + cases.size(), host, err);
        measured.removeIf(
            it -> it.bound() && figures.stream().anyMatch(at -> at.peer().equals(it.peer())));
        figures.addAll(measured);
        measured.forEach(it -> out.print(it.text()));
        out.flush();
      }
    } catch (PerfException.Missing | PerfException.Failed e) {
      err.println("weft: " + e.getMessage());
      return e instanceof PerfException.Missing ? 3 : 1;
    }
    return figures.stream().anyMatch(it -> Boolean.FALSE.equals(it.checked())) ? 1 : 0;
  }

  private List<KvFigure> one(KvCase what, String which, BenchmarkHost host, PrintWriter err)
      throws InterruptedException {
    try (PerfProgress progress = PerfProgress.to(err)) {
      return new KvMeasuring(
              carrier.secure(),
              others(),
              rounds,
              Duration.ofSeconds(limitSeconds),
              words -> progress.accept(which + ": " + words))
          .measure(what, host);
    }
  }

  /// Writes the requested files. Returns true if all were written.
  private boolean save(List<KvFigure> figures, List<KvPoint> drawn, PrintWriter err) {
    boolean kept = true;
    if (json != null) {
      kept &= new ReportFile("--json", json).write(to -> JsonLines.write(to, figures), err);
    }
    if (plot != null && !(figures.isEmpty() && drawn.isEmpty())) {
      kept &= new ReportFile("--plot", plot).write(KvPlot.of(figures, drawn)::save, err);
    }
    return kept;
  }

  /// Checks the options and returns the cases in measuring order.
  private List<KvCase> cases() {
    within("--servers", servers, 1, MOST_RANKS - 1);
    within("--requests", requests, 1, 1_000_000);
    within("--rounds", rounds, simulated == null ? 1 : 0, 1000);
    within("--limit", limitSeconds, 1, 86_400);
    Clients clients = workers.size() > 1 ? Clients.THREADS : Clients.PROCESSES;
    List<KvCase> cases = new ArrayList<>();
    for (String transport : carrier.transports()) {
      for (int window : windows.stream().distinct().toList()) {
        for (int count : workers.stream().distinct().sorted().toList()) {
          cases.add(new KvCase(plan(window, count, clients), transport, clients));
        }
      }
    }
    others().forEach(it -> it.check(cases));
    if (simulated != null && plot == null) {
      throw new IllegalArgumentException("--simulated: its figures are only drawn; give --plot");
    }
    carrier.transports().forEach(UsableTransport::require);
    if (plot != null && !Picture.knows(plot)) {
      throw new IllegalArgumentException("--plot: " + plot + " must end in .svg or .png");
    }
    writable("--json", json);
    writable("--plot", plot);
    if (json != null
        && plot != null
        && json.toAbsolutePath().normalize().equals(plot.toAbsolutePath().normalize())) {
      throw new IllegalArgumentException("--plot: " + plot + " is the file of --json too");
    }
    return cases;
  }

  private static void writable(String option, @Nullable Path file) {
    if (file != null) {
      NewFile.obstacle(file)
          .ifPresent(
              why -> {
                throw new IllegalArgumentException(option + ": cannot write " + file + ": " + why);
              });
    }
  }

  private KvPlan plan(int window, int count, Clients clients) {
    within("--window", window, 1, 256);
    within("--workers", count, 1, MOST_RANKS - servers);
    KvPlan.Op what = KvPlan.Op.parse(op);
    Subject subject = subject();
    boolean sparse = what == KvPlan.Op.LOOKUP || what == KvPlan.Op.UPDATE;
    if (sparse != subject instanceof Subject.Rows) {
      throw new IllegalArgumentException(
          "--op " + op + ": lookup and update require --rows, other operations exclude it");
    }
    KvPlan plan = new KvPlan(what, subject, window, count, servers, requests);
    within("the values of a request, in bytes", plan.bytes(), 4, MOST_BYTES);
    if (clients == Clients.THREADS) {
      within(
          "the values of one request of all workers in one process, in bytes",
          plan.bytes() * count,
          4,
          MOST_BYTES);
    }
    if (KvTraffic.largest(plan) > EXACT) {
      throw new IllegalArgumentException(
          "--requests: %d of %d workers sum to %d; 32-bit floats are exact up to %d; give fewer"
              .formatted(requests, count, KvTraffic.largest(plan), EXACT));
    }
    return plan;
  }

  private List<KvPeer> others() {
    if (psLite != null && !peers.contains(PsLite.WORD)) {
      throw new IllegalArgumentException("--ps-lite: it is for --peer ps-lite");
    }
    return peers.stream().map(it -> KvPeer.parse(it, psLite)).toList();
  }

  private static long bytes(String text) {
    String why;
    try {
      long bytes = OptionType.bytes(4, MOST_BYTES).parse(text);
      if (bytes % 4 == 0) {
        return bytes;
      }
      why = "it is not a whole number of 32-bit floats";
    } catch (IllegalArgumentException wrong) {
      why = String.valueOf(wrong.getMessage());
    }
    throw new IllegalArgumentException("--value: '" + text + "': " + why);
  }

  private Subject subject() {
    if (value != null) {
      if (rows != null || pairs != null) {
        throw new IllegalArgumentException("--value: give only one of --value, --pairs and --rows");
      }
      refuse("--dim", "--pairs and --rows");
      refuse("--spill-beyond", "--rows");
      refuse("--zipf", "--rows");
      return new Subject.Tensor(bytes(value) / 4);
    }
    within("--dim", dim, 1, TableSpec.MAX_WIDTH);
    int keys = pairs != null ? pairs : rows != null ? ROWS_OF_A_REQUEST : PAIRS_OF_A_REQUEST;
    if (rows == null) {
      refuse("--spill-beyond", "--rows");
      refuse("--zipf", "--rows");
      within("--pairs", keys, 1, 10_000_000);
      return new Subject.Pairs(keys, dim);
    }
    within("--pairs", keys, 1, PAIRS_OF_A_REQUEST);
    within("--rows", rows, 1, 100_000_000);
    if (!(zipf >= 0 && zipf <= 10)) {
      throw new IllegalArgumentException("--zipf: " + zipf + " is out of range; allowed: 0 to 10");
    }
    return new Subject.Rows(keys, dim, rows, zipf, memoryBytes());
  }

  /// Throws `IllegalArgumentException` if `option` was given although it has no effect.
  private void refuse(String option, String whose) {
    CommandSpec command = Objects.requireNonNull(spec, "picocli sets the spec");
    if (command.commandLine().getParseResult().hasMatchedOption(option)) {
      throw new IllegalArgumentException(option + ": it applies only to " + whose);
    }
  }

  private long memoryBytes() {
    if (spillBeyond == null) {
      return 0;
    }
    try {
      return OptionType.bytes(Retention.LEAST_MEMORY_BYTES, 1L << 46).parse(spillBeyond);
    } catch (IllegalArgumentException wrong) {
      throw new IllegalArgumentException(
          "--spill-beyond: '" + spillBeyond + "': " + wrong.getMessage(), wrong);
    }
  }

  private static void within(String option, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "%s: %d is out of range; allowed: %d to %d".formatted(option, value, least, most));
    }
  }
}
