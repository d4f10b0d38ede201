// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.perf;

import io.weft.CommException;
import io.weft.ConfigOption;
import io.weft.launch.flag.SecureAlone;
import io.weft.launch.perf.Rounds.Entrant;
import io.weft.launch.perf.process.CProgram;
import io.weft.launch.perf.process.PerfException;
import io.weft.launch.perf.process.SearchPath;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/// `weft perf`: measures Weft beside named peers. Exit code 0 done, 1 it failed or a result was
/// wrong, 2 wrong command line, 3 something is missing here.
@Command(
    name = "perf",
    mixinStandardHelpOptions = true,
    description = {
      "Measures a collective, beside named peers in the same run.",
      "",
      "Each round starts Weft's ranks, then each peer's, afresh; all of them run the same sizes and"
          + " iterations. Before each timed call the data is rewritten and an untimed barrier"
          + " passes; after it the whole result is compared. A call takes as long as its slowest"
          + " rank. A round's p50, p99 and mean are reduced to medians over the rounds.",
      ""
    },
    footer = {
      "",
      "Example:",
      "  weft perf allreduce -np 2 --transport tcp --bytes 4..64M --peer openmpi --json F"
    })
public final class PerfCommand implements Callable<Integer> {

  private static final int MOST_RANKS = 180;

  private final Peer weft;
  private final List<Peer> peers;

  @Spec private @Nullable CommandSpec spec;

  @Parameters(
      paramLabel = "WHAT",
      description = "allreduce, broadcast, allgather, reducescatter, alltoall or barrier")
  private String what = "";

  @Option(
      names = "-np",
      paramLabel = "N",
      defaultValue = "2",
      description = "ranks, 1 to 180 (default: ${DEFAULT-VALUE})")
  private int ranks;

  @Option(
      names = "--transport",
      paramLabel = "T",
      defaultValue = "tcp",
      description = "what carries the bytes, for all: tcp or shm (default: ${DEFAULT-VALUE})")
  private String transport = "tcp";

  @Option(
      names = "--secure",
      paramLabel = "MODE",
      arity = "0..1",
      preprocessor = SecureAlone.class,
      defaultValue = "auto",
      description =
          "encrypt Weft's connections: on, off, or auto, which is off between ranks of this host"
              + " (default: ${DEFAULT-VALUE})")
  private String secure = "auto";

  @Option(
      names = "--bytes",
      paramLabel = "LIST",
      defaultValue = "4..64M",
      description =
          "sizes and ranges in powers of four, such as 4,64K,1M or 4..64M (default:"
              + " ${DEFAULT-VALUE})")
  private String bytes = "";

  @Option(
      names = "--peer",
      paramLabel = "PEER",
      split = ",",
      description = "who runs beside Weft: openmpi")
  private List<String> peerNames = new ArrayList<>();

  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "5",
      description = "interleaved rounds (default: ${DEFAULT-VALUE})")
  private int rounds;

  @Option(
      names = "--iterations",
      paramLabel = "N",
      description =
          "timed calls per size and round (default: 2000, from 256 KiB on as many as move 512 MiB,"
              + " at least 10)")
  private @Nullable Integer iterations;

  @Option(
      names = "--warm-up",
      paramLabel = "MS",
      defaultValue = "200",
      description =
          "untimed work per size in milliseconds, once over all sizes and once before each; Weft's"
              + " first pass takes at least 30 times that in all, since a JVM compiles meanwhile"
              + " (default: ${DEFAULT-VALUE})")
  private long warmUpMillis;

  @Option(
      names = "--limit",
      paramLabel = "S",
      defaultValue = "300",
      description = "seconds that one round of one contestant may take (default: ${DEFAULT-VALUE})")
  private long limitSeconds;

  @Option(names = "--json", paramLabel = "FILE", description = "write one JSON object per line")
  private @Nullable Path json;

  @Option(
      names = "--plot",
      paramLabel = "FILE",
      description = "draw the curves; FILE ends in .svg or .png")
  private @Nullable Path plot;

  /// With all peers that Weft knows.
  public PerfCommand() {
    this(new WeftPeer(), List.of(new OpenMpi(SearchPath.ofEnvironment(), CProgram.userCache())));
  }

  PerfCommand(Peer weft, List<Peer> peers) {
    this.weft = weft;
    this.peers = List.copyOf(peers);
  }

  @Override
  public Integer call() throws InterruptedException, IOException {
    CommandSpec command = Objects.requireNonNull(spec, "picocli sets the spec");
    PrintWriter err = command.commandLine().getErr();
    try {
      Plan plan = plan();
      List<Entrant> entrants = new ArrayList<>();
      for (Peer peer : contestants()) {
        entrants.add(new Entrant(peer.name(), peer.prepare(plan)));
      }
      List<Measurement> measurements = measure(plan, entrants, err);
      command.commandLine().getOut().print(new RatioTable(measurements).text());
      command.commandLine().getOut().flush();
      save(measurements);
      return verdict(measurements, err);
    } catch (IllegalArgumentException | CommException.Setup e) {
      throw new ParameterException(command.commandLine(), e.getMessage(), e);
    } catch (PerfException.Missing e) {
      err.println("weft: " + e.getMessage());
      return 3;
    } catch (PerfException.Failed e) {
      err.println("weft: " + e.getMessage());
      return 1;
    }
  }

  private List<Measurement> measure(Plan plan, List<Entrant> entrants, PrintWriter err)
      throws InterruptedException {
    HostFacts host = HostFacts.here();
    try (Progress progress = Progress.to(err)) {
      return new Rounds(plan, rounds, progress).run(entrants, host);
    }
  }

  private Plan plan() {
    Benchmark benchmark = Benchmark.of(what);
    within("-np", ranks, 1, MOST_RANKS);
    within("--rounds", rounds, 1, 1000);
    within("--warm-up", warmUpMillis, 0, 60_000);
    within("--limit", limitSeconds, 1, 86_400);
    if (iterations != null) {
      within("--iterations", iterations, 1, 1_000_000);
    }
    if (!List.of("tcp", "shm").contains(transport)) {
      throw new IllegalArgumentException(
          "--transport: unknown transport '" + transport + "'; allowed: tcp, shm");
    }
    if (plot != null && !CurvePlot.knows(plot)) {
      throw new IllegalArgumentException("--plot: " + plot + " must end in .svg or .png");
    }
    writable("--json", json);
    writable("--plot", plot);
    return new Plan(
        benchmark,
        transport,
        ConfigOption.SECURE.parse(secure, "--secure"),
        ranks,
        benchmark.sizes(ByteSizes.parse(bytes), ranks).stream()
            .map(size -> new Plan.Case(size, iterationsFor(size)))
            .toList(),
        Duration.ofMillis(warmUpMillis),
        Duration.ofSeconds(limitSeconds));
  }

  private int iterationsFor(long size) {
    return iterations == null ? Plan.iterations(size) : iterations;
  }

  private static void within(String option, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "%s: %d is out of range; allowed: %d to %d".formatted(option, value, least, most));
    }
  }

  /// Said before minutes are spent on what cannot be kept.
  private static void writable(String option, @Nullable Path file) {
    if (file == null) {
      return;
    }
    Path directory = file.toAbsolutePath().getParent();
    if (directory == null || !Files.isWritable(directory) || Files.isDirectory(file)) {
      throw new IllegalArgumentException(option + ": cannot write " + file);
    }
  }

  private List<Peer> contestants() {
    List<Peer> contestants = new ArrayList<>(List.of(weft));
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
                                      .map(Peer::name)
                                      .collect(Collectors.joining(", "))))));
    }
    return contestants.stream().distinct().toList();
  }

  private void save(List<Measurement> measurements) throws IOException {
    if (json != null) {
      JsonLines.write(json, measurements);
    }
    if (plot != null) {
      new CurvePlot(measurements).save(plot);
    }
  }

  private static int verdict(List<Measurement> measurements, PrintWriter err) {
    List<Measurement> wrong = measurements.stream().filter(m -> !m.checked()).toList();
    wrong.forEach(
        m ->
            err.println(
                "weft: %s gave a wrong result: %s of %s on %d ranks over %s"
                    .formatted(
                        m.peer(),
                        m.benchmark(),
                        ByteSizes.format(m.bytes()),
                        m.ranks(),
                        m.transport())));
    return wrong.isEmpty() ? 0 : 1;
  }
}
