// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.WeftConfig;
import io.weft.collective.Algorithms;
import io.weft.perf.Rounds.RoundContestant;
import io.weft.perf.experiment.Experiment;
import io.weft.perf.experiment.ExperimentOutput;
import io.weft.perf.kv.KvCommand;
import io.weft.perf.order.OrderCommand;
import io.weft.perf.process.CProgram;
import io.weft.perf.process.CarrierOptions;
import io.weft.perf.process.SearchPath;
import io.weft.perf.rank.RankArguments.RankCase;
import io.weft.perf.report.Figure;
import io.weft.perf.traffic.TrafficCommand;
import io.weft.perf.training.TrainingCommand;
import io.weft.workloads.report.MeasuredHost;
import io.weft.workloads.report.Picture;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// `weft perf`: compares Weft with peers.
@Command(
    name = "perf",
    mixinStandardHelpOptions = true,
    subcommands = {
      TrafficCommand.class,
      GradientsCommand.class,
      KvCommand.class,
      TrainingCommand.class,
      OrderCommand.class
    },
    description = {
      "Measures a collective, a transport alone, or a step of a graph over two processes, and"
          + " compares Weft with peers in the same run.",
      "",
      "Each round starts new ranks of Weft and of each peer, which run the same sizes and"
          + " iterations. Contestants of a collective work in turn while the others wait: each size"
          + " is timed in five turns of each. Before each timed call the data is rewritten and the"
          + " ranks pass an untimed barrier. After it the whole result is compared. The time of a"
          + " call is that of its slowest rank. The table shows the medians over the rounds of"
          + " p50, p99 and mean.",
      "",
      "The table has three ratios to each peer, which exceed 1 if Weft is faster: of the medians"
          + " over the rounds (p50), the median of the ratios within each round (pairs), and of the"
          + " fastest calls (best). If p50 and pairs differ, the machine was busy: measure more"
          + " rounds.",
      ""
    },
    footer = {
      "",
      "Examples:",
      "  weft perf allreduce --peer openmpi,gloo --plot curves.png --json figures.jsonl",
      "  weft perf allreduce -np 4 --bytes 4,1M,64M --rounds 9 --peer openmpi",
      "  weft perf allreduce --bytes 1M --rounds 9 --handover 150 --peer openmpi",
      "  weft perf allreduce --bytes 1M,64M --iterations 10 --peer javacpp-gloo,xgboost,spark",
      "  weft perf bandwidth --bytes 64M --peer c,memcpy",
      "  weft perf pingpong --bytes 64 --peer openmpi,c",
      "  weft perf messages --outstanding 256 --peer openmpi,c,grpc",
      "  weft perf writes --bytes 64K --outstanding 128 --transport verbs --peer perftest",
      "  weft perf registration --transport verbs --peer each-time",
      "  weft perf sendrecv --transport shm --peer grpc",
      "  weft perf gradients --model resnet101 --fusion on,off",
      "  weft perf allreduce -np 4 --transport shm --explain",
      "",
      "Lines of the table and pitfalls: docs/measuring.md; peers: docs/measuring-peers.md"
    })
public final class PerfCommand extends Experiment {

  private static final Duration LONGEST_WAIT_FOR_PROCESSORS = Duration.ofMinutes(2);

  private final MeasuredPeer weft;
  private final List<MeasuredPeer> peers;

  @Parameters(
      paramLabel = "WHAT",
      arity = "0..1", // A subcommand has none.
      description = {
        "a collective: allreduce, broadcast, allgather, reducescatter, alltoall or barrier;",
        "or a transport alone between two ranks: pingpong (half a round trip), bandwidth (one way"
            + " into registered memory of the peer), messages (small requests, each answered),"
            + " writes or reads (concurrent, into or from registered memory of the peer),"
            + " registration (registering memory before a write and ending the registration after"
            + " it);",
        "or sendrecv: a step of a TensorFlow graph that consumes variables of another process;",
        "or gradients, kv, training or wide-deep-traffic, which have separate options"
      })
  private String what = "";

  @Option(
      names = "-np",
      paramLabel = "N",
      defaultValue = "2",
      description = "ranks, 1 to 180 (default: ${DEFAULT-VALUE})")
  private int ranks;

  @Mixin private CarrierOptions carrier = new CarrierOptions();

  @Option(
      names = "--bytes",
      paramLabel = "LIST",
      description =
          "sizes and ranges in powers of four, such as 4,64K,1M or 4..64M (default: 4..64M;"
              + " pingpong 64..64K, bandwidth 4K..64M, messages 64, writes and reads 4K..1M,"
              + " registration 1M, sendrecv 4,256,4K,1M,16M,64M)")
  private @Nullable String bytes;

  @Option(
      names = "--tensors",
      paramLabel = "MEMORY|LIST",
      description = {
        "memory of the tensors of Weft's collectives: own (allocated by Weft) or private"
            + " (default: own if the transport shares memory, else private); memory that"
            + " registration registers: own or private (default);",
        "for sendrecv, the number of tensors of a step (default: 1,100,1000; several up to 4 KiB"
            + " each unless --bytes is given)"
      })
  private @Nullable String tensors;

  @Option(
      names = "--outstanding",
      paramLabel = "N",
      defaultValue = "256",
      description =
          "number of requests of messages, of writes or of reads in flight"
              + " (default: ${DEFAULT-VALUE})")
  private int outstanding;

  @Option(
      names = "--peer",
      paramLabel = "PEER",
      split = ",",
      description = {
        "systems to compare with; several, with commas or one option each:",
        "openmpi (all benchmarks; tcp and shm), gloo (allreduce, broadcast, allgather, alltoall,"
            + " barrier; tcp), c (a plain C program, over a socket: allreduce of 2 ranks, pingpong,"
            + " bandwidth, messages; tcp; in shared memory: allreduce; shm), javacpp-gloo"
            + " (PyTorch's process group through JavaCPP), xgboost (XGBoost4J's collective) and"
            + " spark (Spark's treeAggregate, whose sum only the driver has): allreduce; tcp; grpc"
            + " (unary calls of grpc-java: messages; tcp; TensorFlow's own runtime: sendrecv),"
            + " memcpy (the limit: one core copies the same bytes), perftest (ib_write_lat,"
            + " ib_write_bw, ib_read_bw: pingpong, writes, reads; verbs), perftest-send"
            + " (ib_send_lat: pingpong; verbs), each-time (Weft without cached registrations:"
            + " registration)"
      })
  private List<String> peerNames = new ArrayList<>();

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "5",
      description = "interleaved rounds (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Option(
      names = "--handover",
      paramLabel = "NS",
      description =
          "for a virtual machine whose host moves its processors: limit in nanoseconds on the"
              + " time of a cache line from one processor to another and back; a round in which"
              + " it is longer before or after a series of turns is repeated (default: no limit)")
  private @Nullable Integer handover;

  @Option(
      names = "--iterations",
      paramLabel = "N",
      description =
          "timed calls per size and round (default: 2000, above 256 KiB enough to move 512 MiB,"
              + " at least 10; messages 200 of 2048 answers each; writes and reads in units of 128;"
              + " registration 1000; sendrecv 1000, 300 of 100 tensors, 30 of 1000)")
  private @Nullable Integer iterations;

  @Option(
      names = "--warm-up",
      paramLabel = "MS",
      defaultValue = "200",
      description =
          "untimed work per size in milliseconds, once over all sizes and once before each; the"
              + " first pass takes at least 30 times this in total, with Weft's collectives longer"
              + " while the JVMs compile, at most 200 times this for each size; that of sendrecv"
              + " takes 4 to 10 rounds over all sizes (default: ${DEFAULT-VALUE})")
  private long warmUpMillis;

  @Option(
      names = "--explain",
      description =
          "print Weft's way and algorithm at each size for this number of ranks, the segments, the"
              + " segments in flight, and the rule of the table, instead of measuring; with --json"
              + " also as JSON")
  private boolean explain;

  @Option(
      names = "--plot",
      paramLabel = "FILE",
      description = "draw the curves; FILE ends in .svg or .png")
  private @Nullable Path plot;

  /// Creates the command with all peers.
  public PerfCommand() {
    this(new WeftPeer(), peers(SearchPath.ofEnvironment(), CProgram.userCache()));
  }

  /// Returns all peers in the order of messages.
  static List<MeasuredPeer> peers(SearchPath path, Path cache) {
    return List.of(
        new OpenMpi(path, cache),
        CompiledPeer.gloo(path, cache),
        CompiledPeer.plainC(path, cache),
        CompiledPeer.memcpy(path, cache),
        JavaPeer.javacppGloo(),
        JavaPeer.xgboost(),
        JavaPeer.spark(),
        new GrpcPeer(),
        Perftest.writes(path),
        Perftest.sends(path),
        WeftPeer.eachTime());
  }

  PerfCommand(MeasuredPeer weft, List<MeasuredPeer> peers) {
    this.weft = weft;
    this.peers = List.copyOf(peers);
  }

  @Override
  protected @Nullable Path plot() {
    return plot;
  }

  @Override
  protected Optional<Picture> picture(List<Figure> measured) {
    return explain ? Optional.empty() : Optional.of(PerfFigures.picture(measured));
  }

  @Override
  protected void measure(ExperimentOutput output) throws InterruptedException {
    MeasuringPlan plan = plan(spec().subcommands().keySet());
    if (explain) {
      explain(plan, output);
      return;
    }
    List<RoundContestant> contestants = new ArrayList<>();
    for (MeasuredPeer peer : contestants()) {
      contestants.add(new RoundContestant(peer.name(), peer.prepare(plan)));
    }
    Duration wait = LONGEST_WAIT_FOR_PROCESSORS;
    List<Figure> figures =
        new Rounds(plan, rounds, handover, Handover::nanos, wait, output::progress)
            .run(contestants, MeasuredHost.here());
    output.add(figures, new RatioTable(figures).text());
    figures.stream().filter(Figure::isWrong).forEach(each -> output.warn(wrong(each)));
  }

  private static String wrong(Figure figure) {
    return "%s gave a wrong result: %s of %s on %s ranks over %s"
        .formatted(
            figure.text("peer"),
            figure.text("benchmark"),
            ByteSizes.format((long) figure.number("bytes")),
            figure.text("ranks"),
            figure.text("transport"));
  }

  private static void explain(MeasuringPlan plan, ExperimentOutput output) {
    WeftConfig config = WeftConfig.load();
    Explanation explanation =
        new Explanation(
            plan,
            WeftPeer.sharesMemory(plan.transport()),
            WeftPeer.isOneSided(plan.transport()),
            config.eagerBytes().orElse(WeftPeer.eagerBytes(plan.transport())),
            Algorithms.table(config.algorithms()));
    output.add(explanation.lines(), explanation.text());
  }

  private List<MeasuredPeer> contestants() {
    List<MeasuredPeer> contestants = new ArrayList<>(List.of(weft));
    for (String name : peerNames) {
      contestants.add(
          peers.stream()
              .filter(peer -> peer.name().equals(name))
              .findFirst()
              .orElseThrow(
                  () ->
                      new IllegalArgumentException(
                          "--peer: unknown peer '%s'; allowed: %s"
                              .formatted(
                                  name,
                                  peers.stream()
                                      .map(MeasuredPeer::name)
                                      .collect(Collectors.joining(", "))))));
    }
    return contestants.stream().distinct().toList();
  }

  /// Returns the plan of these options. Throws `IllegalArgumentException` with the option and the
  /// allowed values.
  ///
  /// @param commands words that are allowed in place of a benchmark's name, for the message
  private MeasuringPlan plan(Collection<String> commands) {
    if (what.isEmpty()) {
      throw new IllegalArgumentException("Missing required parameter: 'WHAT'");
    }
    Benchmark benchmark = Benchmark.of(what, commands);
    within("-np", ranks, 1, MOST_RANKS);
    if (!benchmark.isCollective() && ranks != 2) {
      throw new IllegalArgumentException(
          "-np: %s is between 2 ranks, not %d".formatted(what, ranks));
    }
    within("--outstanding", outstanding, 1, 65_536);
    within("--rounds", rounds, 1, 1000);
    within("--warm-up", warmUpMillis, 0, 60_000);
    if (handover != null) {
      within("--handover", handover, 1, 20_000);
    }
    if (iterations != null) {
      within("--iterations", iterations, 1, 1_000_000);
    }
    return new MeasuringPlan(
        benchmark,
        new MeasuringPlan.Link(carrier.transport(), carrier.secure()),
        memory(benchmark),
        outstanding,
        ranks,
        cases(benchmark),
        Duration.ofMillis(warmUpMillis),
        limit());
  }

  private List<RankCase> cases(Benchmark benchmark) {
    List<Long> sizes =
        benchmark.sizes(ByteSizes.parse(bytes == null ? benchmark.usualBytes() : bytes), ranks);
    if (benchmark != Benchmark.SENDRECV) {
      return sizes.stream()
          .map(size -> new RankCase(size, iterationsFor(benchmark, size), 1))
          .toList();
    }
    return SendRecvCases.of(sizes, bytes != null, tensors, iterations);
  }

  private int iterationsFor(Benchmark benchmark, long size) {
    return iterations == null ? benchmark.iterations(size) : iterations;
  }

  /// Returns the memory of the tensors. A benchmark without a collective has registered memory
  /// instead.
  private TensorMemory memory(Benchmark benchmark) {
    if (tensors != null && benchmark != Benchmark.SENDRECV) {
      if (!benchmark.isCollective() && benchmark != Benchmark.REGISTRATION) {
        throw new IllegalArgumentException("--tensors: " + what + " has no tensors");
      }
      return TensorMemory.of(tensors);
    }
    if (benchmark == Benchmark.REGISTRATION) {
      return TensorMemory.PRIVATE;
    }
    return benchmark.isCollective() ? WeftPeer.usualMemory(carrier.transport()) : TensorMemory.OWN;
  }
}
