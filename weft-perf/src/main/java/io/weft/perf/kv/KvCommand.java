// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.kv;

import io.weft.ServiceThreads;
import io.weft.ThreadsConfig;
import io.weft.cluster.Connections;
import io.weft.cluster.JobConfig;
import io.weft.config.OptionType;
import io.weft.kv.KvConfig;
import io.weft.kv.spec.Retention;
import io.weft.kv.spec.TableSpec;
import io.weft.perf.experiment.Contestant;
import io.weft.perf.experiment.ContestantRounds;
import io.weft.perf.experiment.Experiment;
import io.weft.perf.experiment.ExperimentOutput;
import io.weft.perf.kv.KvPlan.Subject;
import io.weft.perf.process.CarrierOptions;
import io.weft.perf.process.LocalRanks;
import io.weft.perf.process.UsableTransport;
import io.weft.perf.report.Figure;
import io.weft.perf.report.RankReport;
import io.weft.workloads.report.MeasuredHost;
import io.weft.workloads.report.Picture;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/// `weft perf kv`: measures the parameter server by keys.
@Command(
    name = "kv",
    mixinStandardHelpOptions = true,
    description = {
      "Measures the parameter server by keys: workers push to servers or pull from them, each in a"
          + " separate process on this host. --workers, --window and --transport take lists; the"
          + " workers of a list share one process. The values of a request are one of three:",
      "--pairs: ascending keys with their values, equal in each request; the list of keys is sent"
          + " once and then named by its digest.",
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
public final class KvCommand extends Experiment {

  private static final long MOST_BYTES = 1L << 30;

  /// The limit up to which 32-bit floats are exact integers.
  private static final long EXACT = 1 << 24;

  private static final long OVERHEAD_BYTES = 1L << 30;

  /// The memory of a worker or server in multiples of a request's values.
  private static final long REQUESTS_HELD = 16;

  private static final int ROWS_OF_A_REQUEST = 4096;
  private static final int PAIRS_OF_A_REQUEST = 100_000;

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
          "with --rows: bytes of rows that a shard keeps in memory, at least 64K; other rows lie on"
              + " its server's disk, in kv-spill-directory or else the directory of temporary"
              + " files")
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
      names = "--server-threads",
      paramLabel = "T",
      split = ",",
      defaultValue = "1",
      description =
          "threads of each server that own its shards, each with a progress thread and connections"
              + " of its own; each number of a list is measured (default: ${DEFAULT-VALUE})")
  private List<Integer> serverThreads = List.of();

  @Option(
      names = "--requests",
      paramLabel = "N",
      defaultValue = "2000",
      description = "timed requests of each worker (default: ${DEFAULT-VALUE})")
  private int requests;

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
  protected @Nullable Path plot() {
    return plot;
  }

  @Override
  protected Optional<Picture> picture(List<Figure> measured) {
    return KvFigures.picture(measured, simulatedFigures());
  }

  private List<Figure> simulatedFigures() {
    return simulated == null ? List.of() : Figure.simulated(simulated, "kv", "kv");
  }

  @Override
  protected void measure(ExperimentOutput output) throws InterruptedException {
    List<KvPlan> plans = plans();
    List<KvPeer> others = others();
    List<String> transports = carrier.transports();
    others.forEach(it -> it.check(transports.stream().flatMap(t -> plans.stream()).toList()));
    carrier.transports().forEach(UsableTransport::require);
    List<Figure> unused = simulatedFigures();
    int all = rounds == 0 ? 0 : transports.size() * plans.size();
    try {
      for (int i = 0; i < all; i++) {
        String transport = transports.get(i / plans.size());
        KvPlan plan = plans.get(i % plans.size());
        others.forEach(KvPeer::prepare);
        MeasuredHost host = MeasuredHost.here();
        String words =
            "%d of %d: %s over %s, window %d, workers: %d, server threads: %d, "
                .formatted(
                    i + 1,
                    all,
                    plan.op().word(),
                    transport,
                    plan.window(),
                    plan.workers(),
                    plan.serverThreads());
        List<ContestantRounds> ran =
            output.rounds(words, rounds, contestants(plan, transport, others));
        List<Figure> figures = new ArrayList<>();
        ran.forEach(each -> figures.add(figure(plan, transport, each).with("host", host)));
        for (String bound : List.of("copy", "loopback")) {
          bound(plan, transport, ran.getFirst(), bound)
              .filter(it -> output.figures().stream().noneMatch(at -> isSamePeer(at, it)))
              .ifPresent(it -> figures.add(it.with("host", host)));
        }
        output.add(figures, figures.stream().map(KvFigures::row).collect(Collectors.joining()));
      }
    } finally {
      output.print(KvFigures.summary(output.figures()));
    }
  }

  private static boolean isSamePeer(Figure one, Figure other) {
    return one.text("peer").equals(other.text("peer"));
  }

  private List<Contestant> contestants(KvPlan plan, String transport, List<KvPeer> others) {
    List<Contestant> all = new ArrayList<>();
    all.add(new Contestant("weft", () -> weft(plan, transport)));
    others.forEach(it -> all.add(new Contestant(it.word(), () -> it.run(plan, limit()))));
    return all;
  }

  private RankReport weft(KvPlan plan, String transport) throws InterruptedException {
    long request = plan.bytes();
    LocalRanks ranks =
        shareOneProcess()
            ? new LocalRanks(
                    KvThreads.class,
                    plan.servers() + 1,
                    OVERHEAD_BYTES + (REQUESTS_HELD + plan.window()) * plan.workers() * request)
                .with(Map.of(JobConfig.CONNECTIONS.variable(), Connections.USED.toString()))
                .with(threads(plan))
            : new LocalRanks(
                    KvRank.class,
                    plan.workers() + plan.servers(),
                    OVERHEAD_BYTES + REQUESTS_HELD * request)
                .with(threads(plan));
    return RankReport.parse(
        ranks.patient().run(transport, carrier.secure(), plan.words(), limit()),
        List.of(KvPlan.CASE));
  }

  /// Returns the settings of the servers' threads; none for one thread.
  private static Map<String, String> threads(KvPlan plan) {
    if (plan.serverThreads() == 1) {
      return Map.of();
    }
    return Map.of(
        KvConfig.THREADS.variable(),
        String.valueOf(plan.serverThreads()),
        ThreadsConfig.PROGRESS_THREADS.variable(),
        ServiceThreads.ofLanes(plan.serverThreads()).toString());
  }

  private boolean shareOneProcess() {
    return workers.size() > 1;
  }

  private Figure figure(KvPlan plan, String transport, ContestantRounds ran) {
    boolean weft = ran.name().equals("weft");
    double total = ran.numbers(KvPlan.CASE, "total").stream().mapToDouble(it -> it).sum();
    return KvFigures.of(
            plan,
            ran.name(),
            weft ? transport : "tcp",
            weft && shareOneProcess() ? "threads" : "processes",
            ran.nanos(KvPlan.CASE),
            total)
        .with("oneSidedShare", ran.medianIfKnown(KvPlan.CASE, "oneSidedShare"))
        .with("copiesPerByte", ran.medianIfKnown(KvPlan.CASE, "copiesPerByte"))
        .with("registrationsPerStep", ran.medianIfKnown(KvPlan.CASE, "registrationsPerStep"))
        .with("checked", ran.checked(KvPlan.CASE));
  }

  /// Returns the time of copying a request's values or of sending them through a plain socket,
  /// empty if it was not measured.
  private static Optional<Figure> bound(
      KvPlan plan, String transport, ContestantRounds weft, String name) {
    List<Long> nanos =
        weft.numbers(KvPlan.CASE, name).stream().map(Double::longValue).sorted().toList();
    long total = nanos.stream().mapToLong(it -> it).sum();
    String peer = name.equals("copy") ? "memcpy" : name;
    var single = new KvPlan(plan.op(), plan.subject(), 1, 1, 1, 1, nanos.size());
    return total == 0
        ? Optional.empty()
        : Optional.of(KvFigures.of(single, peer, transport, "processes", nanos, (double) total));
  }

  /// Checks the options and returns the cases over one transport in measuring order.
  private List<KvPlan> plans() {
    within("--servers", servers, 1, MOST_RANKS - 1);
    within("--requests", requests, 1, 1_000_000);
    within("--rounds", rounds, simulated == null ? 1 : 0, 1000);
    if (simulated != null && plot == null) {
      throw new IllegalArgumentException("--simulated: its figures are only drawn; give --plot");
    }
    List<KvPlan> plans = new ArrayList<>();
    for (int window : windows.stream().distinct().toList()) {
      for (int count : workers.stream().distinct().sorted().toList()) {
        for (int threads : serverThreads.stream().distinct().sorted().toList()) {
          plans.add(plan(window, count, threads));
        }
      }
    }
    return plans;
  }

  private KvPlan plan(int window, int count, int threads) {
    within("--server-threads", threads, 1, ServiceThreads.MOST_LANES);
    within("--window", window, 1, 256);
    within("--workers", count, 1, MOST_RANKS - servers);
    KvPlan.Op what = KvPlan.Op.parse(op);
    Subject subject = subject();
    boolean sparse = what == KvPlan.Op.LOOKUP || what == KvPlan.Op.UPDATE;
    if (sparse != subject instanceof Subject.Rows) {
      throw new IllegalArgumentException(
          "--op " + op + ": lookup and update require --rows, other operations exclude it");
    }
    KvPlan plan = new KvPlan(what, subject, window, count, servers, threads, requests);
    within("the values of a request, in bytes", plan.bytes(), 4, MOST_BYTES);
    if (shareOneProcess()) {
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
    if (spec().commandLine().getParseResult().hasMatchedOption(option)) {
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
}
