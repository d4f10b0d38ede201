// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import io.weft.perf.process.Child;
import io.weft.perf.process.PerfException;
import io.weft.perf.process.SearchPath;
import io.weft.perf.rank.RankArguments.RankCase;
import io.weft.perf.report.RankReport;
import java.net.InetAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The programs of linux-rdma's `perftest`. Two processes of this host run over the RDMA device and
/// address that Weft uses, with the same number of operations in flight, and wait by spinning. They
/// compare no contents. For bandwidth they print only the average, which takes the place of the
/// median, and their peak, which takes the place of the minimum.
///
/// @param name name on the command line
/// @param programs programs by the benchmarks that they measure
/// @param path directories in which the programs are searched
record Perftest(String name, Map<Benchmark, String> programs, SearchPath path)
    implements MeasuredPeer {

  private static final String TRANSPORT = "verbs";
  private static final String HOST = InetAddress.getLoopbackAddress().getHostAddress();
  private static final String NOT_YET = "Couldn't connect";
  private static final Duration BETWEEN_TRIES = Duration.ofMillis(100);
  private static final int FEWEST_ITERATIONS = 5;
  private static final double MEBIBYTE = 1 << 20;

  Perftest {
    programs = Map.copyOf(programs);
  }

  /// Returns the one-sided programs: `ib_write_lat` polls memory for arriving data, `ib_write_bw`
  /// and `ib_read_bw` keep their queues full.
  static MeasuredPeer writes(SearchPath path) {
    return new Perftest(
        "perftest",
        Map.of(
            Benchmark.PINGPONG,
            "ib_write_lat",
            Benchmark.WRITES,
            "ib_write_bw",
            Benchmark.READS,
            "ib_read_bw"),
        path);
  }

  /// Returns the two-sided program `ib_send_lat`, which waits for completions as Weft does.
  static MeasuredPeer sends(SearchPath path) {
    return new Perftest("perftest-send", Map.of(Benchmark.PINGPONG, "ib_send_lat"), path);
  }

  @Override
  public Prepared prepare(MeasuringPlan plan) throws InterruptedException {
    String program = programs.get(plan.benchmark());
    if (program == null) {
      throw new IllegalArgumentException(
          "peer %s has no %s; it has: %s"
              .formatted(
                  name,
                  plan.benchmark().label(),
                  programs.keySet().stream()
                      .sorted()
                      .map(Benchmark::label)
                      .collect(Collectors.joining(", "))));
    }
    if (!plan.transport().equals(TRANSPORT)) {
      throw new IllegalArgumentException(
          "peer %s has no transport '%s'; allowed: %s"
              .formatted(name, plan.transport(), TRANSPORT));
    }
    Path file =
        path.find(program)
            .orElseThrow(
                () ->
                    new PerfException.Missing(
                        "peer %s: there is no %s on PATH; install it: apt-get install perftest"
                            .formatted(name, program)));
    List<String> device = device(System.getenv(), WeftPeer.devices(TRANSPORT));
    String title = program + " " + version(file);
    return stage -> {
      List<RankReport.Sample> samples = new ArrayList<>();
      for (RankCase one : plan.cases()) {
        samples.add(sample(file, device, plan, one));
      }
      return new RankReport(title, samples);
    };
  }

  /// Returns the options for the device, the port and the address that Weft uses. Without settings,
  /// these programs choose the same port and address as Weft.
  static List<String> device(Map<String, String> environment, List<String> devices) {
    List<String> options = new ArrayList<>();
    devices.stream().findFirst().ifPresent(device -> options.addAll(List.of("-d", device)));
    given(environment, "WEFT_VERBS_PORT", "0").ifPresent(it -> options.addAll(List.of("-i", it)));
    given(environment, "WEFT_VERBS_GID_INDEX", "-1")
        .ifPresent(it -> options.addAll(List.of("-x", it)));
    return options;
  }

  private static Optional<String> given(
      Map<String, String> environment, String name, String otherwise) {
    return Optional.ofNullable(environment.get(name)).filter(value -> !value.equals(otherwise));
  }

  private static String version(Path program) throws InterruptedException {
    Child.ChildOutput outcome =
        Child.run(List.of(program.toString(), "--version"), Duration.ofSeconds(30));
    return Stream.concat(outcome.out().stream(), outcome.err().stream())
        .flatMap(line -> Stream.of(line.split("\\s+")))
        .filter(word -> word.matches("\\d+\\.\\d.*"))
        .findFirst()
        .orElse("");
  }

  private RankReport.Sample sample(
      Path program, List<String> device, MeasuringPlan plan, RankCase one)
      throws InterruptedException {
    int calls = Math.multiplyExact(one.iterations(), plan.benchmark().callsPerIteration());
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(device);
    command.addAll(List.of("-F", "-s", Long.toString(one.bytes())));
    command.addAll(List.of("-n", Integer.toString(Math.max(calls, FEWEST_ITERATIONS))));
    if (plan.benchmark().isStream()) {
      int depth = Math.min(plan.outstanding(), plan.benchmark().callsPerIteration());
      command.addAll(List.of("-t", Integer.toString(depth)));
    }
    command.addAll(List.of("-p", Integer.toString(somePort())));
    return latencies(talk(command, plan.limit()), one.bytes()).sample(one.key(), null);
  }

  /// Returns a random port below the kernel's ephemeral ports.
  private static int somePort() {
    return ThreadLocalRandom.current().nextInt(20_000, 32_000);
  }

  /// Starts the waiting side, then the measuring side, which is restarted while it cannot connect
  /// yet. Returns the output of the measuring side.
  private List<String> talk(List<String> command, Duration limit) throws InterruptedException {
    List<String> client = new ArrayList<>(command);
    client.add(HOST);
    long begin = System.nanoTime();
    try (Child server = Child.start(command, Map.of())) {
      while (true) {
        Duration left = limit.minusNanos(System.nanoTime() - begin);
        Child.ChildOutput outcome = Child.run(client, left);
        if (outcome.exit() == 0) {
          var unused = server.await(limit);
          return outcome.out();
        }
        boolean early =
            Stream.concat(outcome.out().stream(), outcome.err().stream())
                .anyMatch(line -> line.contains(NOT_YET));
        if (!early || server.hasEnded(BETWEEN_TRIES) || left.isNegative()) {
          String said = early ? server.await(limit).lastWords() : outcome.lastWords();
          throw new PerfException.Failed(
              "peer %s ended with status %d:%n%s%n(%s)"
                  .formatted(name, outcome.exit(), said, String.join(" ", client)));
        }
      }
    }
  }

  /// Reads the line of figures. For latency it is `BYTES ITERATIONS MIN MAX TYPICAL AVERAGE
  /// DEVIATION P99 P99.9` in microseconds, where TYPICAL is the median. For bandwidth it is `BYTES
  /// ITERATIONS PEAK AVERAGE MESSAGES` in MiB per second. Throws `PerfException.Failed` without
  /// such a line.
  static Latencies latencies(List<String> lines, long bytes) {
    for (String line : lines) {
      String[] words = line.strip().split("\\s+");
      if (words.length >= 5 && words[0].equals(Long.toString(bytes))) {
        List<Double> figures = Stream.of(words).skip(2).map(word -> figure(word, line)).toList();
        double first = figures.get(0);
        if (words.length >= 9) {
          return new Latencies(figures.get(2), figures.get(5), first, figures.get(3));
        }
        double average = figures.get(1);
        double micros = bytes / (average * MEBIBYTE) * 1e6;
        double fastest = bytes / (Math.max(first, average) * MEBIBYTE) * 1e6;
        return new Latencies(micros, micros, fastest, micros);
      }
    }
    throw new PerfException.Failed(
        "perftest printed no figures for %s:%n%s"
            .formatted(ByteSizes.format(bytes), String.join("\n", lines)));
  }

  private static double figure(String word, String line) {
    try {
      return Double.parseDouble(word);
    } catch (NumberFormatException e) {
      throw new PerfException.Failed("perftest printed a word that is not a figure: " + line, e);
    }
  }
}
