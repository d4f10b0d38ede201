// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.process;

import io.weft.WeftConfig;
import io.weft.cluster.JobConfig;
import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.SecureMode;
import io.weft.cluster.watch.LivenessConfig;
import io.weft.launch.job.JobFailed;
import io.weft.launch.job.JobPlan;
import io.weft.launch.job.LaunchedJob;
import io.weft.launch.job.RankPlacement;
import io.weft.launch.process.Collector;
import io.weft.transport.limit.ClampedDuration;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/// The ranks of a program of this build, all on this host. They are started like those of any job.
///
/// @param program the main class
/// @param size number of ranks
/// @param directMemoryBytes limit on one rank's memory outside the heap
/// @param settings the ranks' settings as environment variables
public record LocalRanks(
    Class<?> program, int size, long directMemoryBytes, Map<String, String> settings) {

  private static final int LAST_LINES = 20;

  /// The time for ending a job after its limit has expired.
  private static final Duration ENDING = Duration.ofSeconds(30);

  /// Copies the map.
  public LocalRanks {
    settings = Map.copyOf(settings);
  }

  /// Creates ranks with the settings of this process.
  public LocalRanks(Class<?> program, int size, long directMemoryBytes) {
    this(program, size, directMemoryBytes, Map.of());
  }

  /// Returns these ranks with `more` settings.
  public LocalRanks with(Map<String, String> more) {
    Map<String, String> all = new HashMap<>(settings);
    all.putAll(more);
    return new LocalRanks(program, size, directMemoryBytes, all);
  }

  /// Returns these ranks without a silence limit, unless the user has set one. With many workers on
  /// few processors a rank may get no processor for seconds. The limit of `run` ends a job without
  /// progress.
  public LocalRanks patient() {
    String variable = LivenessConfig.SILENCE_LIMIT.variable();
    return System.getenv(variable) == null ? with(Map.of(variable, "0")) : this;
  }

  /// Runs one job to its end and returns the lines of its standard output. Lines of ranks other
  /// than 0 begin with `[rank]`. All processes have ended on return. Throws `PerfException.Failed`
  /// with the ranks' last error output.
  public List<String> run(
      String transport, SecureMode secure, List<String> arguments, Duration limit)
      throws InterruptedException {
    Map<String, String> environment = new HashMap<>(settings);
    environment.put(JobConfig.TRANSPORT.variable(), transport);
    environment.put(JobConfig.SECURE.variable(), secure.toString());
    JobPlan plan =
        new JobPlan(
            RankPlacement.here(size),
            command(arguments),
            environment,
            WeftConfig.builder(LaunchEnvironment.outside(System.getenv())).secure(secure).build(),
            JobPlan.Output.RANK_ZERO_RAW);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream err = new ByteArrayOutputStream();
    int code;
    try (LaunchedJob job = LaunchedJob.start(plan, print(out), print(err))) {
      code = await(job, limit, err);
    } catch (JobFailed refused) {
      throw new PerfException.Failed("Weft: " + refused.getMessage(), refused);
    }
    if (code != 0) {
      throw new PerfException.Failed("Weft's ranks failed:%n%s".formatted(lastLines(err)));
    }
    return out.toString(StandardCharsets.UTF_8).lines().toList();
  }

  /// Waits for a job, which runs until its ranks end. A second thread ends it after `limit`.
  private static int await(LaunchedJob job, Duration limit, ByteArrayOutputStream err)
      throws InterruptedException {
    CountDownLatch ended = new CountDownLatch(1);
    AtomicBoolean expired = new AtomicBoolean();
    Thread watch =
        Thread.ofPlatform()
            .daemon()
            .name("weft-limit")
            .start(
                () -> {
                  if (!arrives(ended, limit)) {
                    expired.set(true);
                    job.close();
                  }
                });
    int code;
    try {
      code = job.await();
    } finally {
      ended.countDown();
    }
    if (!watch.join(ENDING)) {
      throw new PerfException.Failed(
          "Weft's ranks were not ended %d s after --limit".formatted(ENDING.toSeconds()));
    }
    if (expired.get()) {
      throw new PerfException.Failed(
          "Weft's ranks were still running after %d s; measure less, or raise --limit%n%s"
              .formatted(limit.toSeconds(), lastLines(err))
              .strip());
    }
    return code;
  }

  /// Returns the last lines of the ranks' error output.
  private static String lastLines(ByteArrayOutputStream err) {
    List<String> said = err.toString(StandardCharsets.UTF_8).lines().toList();
    return String.join("\n", said.subList(Math.max(0, said.size() - LAST_LINES), said.size()));
  }

  private static boolean arrives(CountDownLatch latch, Duration limit) {
    try {
      return latch.await(ClampedDuration.millis(limit), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private static PrintStream print(ByteArrayOutputStream into) {
    return new PrintStream(into, true, StandardCharsets.UTF_8);
  }

  /// Returns the command line of one rank: this JVM with its class path and with flags for modules
  /// and access.
  public List<String> command(List<String> arguments) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(Collector.flags());
    command.addAll(
        List.of(
            "--add-modules=jdk.incubator.vector",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:-UsePerfData",
            "-Xmx1g",
            "-XX:MaxDirectMemorySize=" + directMemoryBytes,
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
            "-cp",
            System.getProperty("java.class.path"),
            program.getName()));
    command.addAll(arguments);
    return command;
  }
}
