// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.file.NewFile;
import io.weft.perf.process.CarrierOptions;
import io.weft.perf.report.Picture;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/// The command line of `weft perf`: benchmark, repetitions, peers and reports.
final class PerfOptions {

  private static final int MOST_RANKS = 180;

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
            + " bandwidth, messages; tcp; in shared memory: allreduce; shm), grpc (unary calls of"
            + " grpc-java: messages; tcp; TensorFlow's own runtime: sendrecv), memcpy (the limit:"
            + " one core copies the same bytes), perftest (ib_write_lat, ib_write_bw, ib_read_bw:"
            + " pingpong, writes, reads; verbs), perftest-send (ib_send_lat: pingpong; verbs),"
            + " each-time (Weft without cached registrations: registration)"
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
      names = "--limit",
      paramLabel = "S",
      defaultValue = "300",
      description = "seconds that one round of one contestant may take (default: ${DEFAULT-VALUE})")
  private long limitSeconds;

  @Option(
      names = "--explain",
      description =
          "print Weft's way and algorithm at each size for this number of ranks, the segments, the"
              + " segments in flight, and the rule of the table, instead of measuring; with --json"
              + " also as JSON")
  private boolean explain;

  @Option(names = "--json", paramLabel = "FILE", description = "write one JSON object per line")
  private @Nullable Path json;

  @Option(
      names = "--plot",
      paramLabel = "FILE",
      description = "draw the curves; FILE ends in .svg or .png")
  private @Nullable Path plot;

  /// Returns the requested peers in order.
  List<String> peers() {
    return List.copyOf(peerNames);
  }

  /// Returns true if an explanation is requested instead of figures.
  boolean explains() {
    return explain;
  }

  int rounds() {
    return rounds;
  }

  /// Returns the limit of a cache line's time in a valid round, null for no limit.
  @Nullable Integer handover() {
    return handover;
  }

  @Nullable Path json() {
    return json;
  }

  @Nullable Path plot() {
    return plot;
  }

  /// Returns the plan of these options. Throws `IllegalArgumentException` with the option and the
  /// allowed values.
  ///
  /// @param commands words that are allowed in place of a benchmark's name, for the message
  MeasuringPlan plan(Collection<String> commands) {
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
    within("--limit", limitSeconds, 1, 86_400);
    if (handover != null) {
      within("--handover", handover, 1, 20_000);
    }
    if (iterations != null) {
      within("--iterations", iterations, 1, 1_000_000);
    }
    String transport = carrier.transport();
    if (plot != null && !Picture.knows(plot)) {
      throw new IllegalArgumentException("--plot: " + plot + " must end in .svg or .png");
    }
    writable("--json", json);
    writable("--plot", plot);
    if (json != null && json.equals(plot)) {
      throw new IllegalArgumentException("--json and --plot: both are " + json);
    }
    return new MeasuringPlan(
        benchmark,
        transport,
        carrier.secure(),
        memory(benchmark),
        outstanding,
        ranks,
        cases(benchmark),
        Duration.ofMillis(warmUpMillis),
        Duration.ofSeconds(limitSeconds));
  }

  private List<MeasuringPlan.PlannedCase> cases(Benchmark benchmark) {
    List<Long> sizes =
        benchmark.sizes(ByteSizes.parse(bytes == null ? benchmark.usualBytes() : bytes), ranks);
    if (benchmark != Benchmark.SENDRECV) {
      return sizes.stream()
          .map(size -> new MeasuringPlan.PlannedCase(size, iterationsFor(benchmark, size)))
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

  private static void within(String option, long value, long least, long most) {
    if (value < least || value > most) {
      throw new IllegalArgumentException(
          "%s: %d is out of range; allowed: %d to %d".formatted(option, value, least, most));
    }
  }

  /// Throws before the measurement if `file` cannot be written.
  private static void writable(String option, @Nullable Path file) {
    Optional<String> obstacle = file == null ? Optional.empty() : NewFile.obstacle(file);
    if (obstacle.isPresent()) {
      throw new IllegalArgumentException(option + ": cannot write " + file + ": " + obstacle.get());
    }
  }
}
