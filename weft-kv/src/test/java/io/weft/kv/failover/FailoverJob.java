// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.failover;

import io.weft.WeftConfig;
import io.weft.agent.Ticker;
import io.weft.cluster.store.JobIdentity;
import io.weft.cluster.store.JobTrust;
import io.weft.cluster.store.SecretFile;
import io.weft.cluster.store.TcpStoreServer;
import io.weft.testkit.job.JvmCommand;
import io.weft.transport.spi.Secret;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// A job of servers and counting workers in separate processes, which a test can kill or stop.
final class FailoverJob implements AutoCloseable {

  private static final Duration LIMIT = Duration.ofSeconds(90);
  private static final long LOOK_NANOS = 10_000_000;

  /// The memory of a server for replies to all workers.
  static final int REPLY_BYTES = 16 << 20;

  private static final Pattern RIGHT =
      Pattern.compile("right: (\\d+) pushes, longest wait (\\d+) ms");

  private static final Pattern RESIDENT = Pattern.compile("VmRSS:\\s+(\\d+) kB");
  private static final List<String> LARGE_HEAP =
      List.of(
          "--add-modules", "jdk.incubator.vector", "--enable-native-access=ALL-UNNAMED", "-Xmx1g");

  /// JVM options with a fixed heap, so that only native memory changes the resident size.
  private static final List<String> FIXED_HEAP =
      List.of(
          "--add-modules",
          "jdk.incubator.vector",
          "--enable-native-access=ALL-UNNAMED",
          "-Xms128m",
          "-Xmx128m",
          "-XX:+AlwaysPreTouch");

  private static final int SHARDS = 6;
  private static final String JOB = "failover";

  private final Path directory;
  private final int servers;
  private final int workers;
  private final String transport;
  private final String silenceLimit;
  private final int puller;
  private final Secret secret = SecretFile.random();
  private final TcpStoreServer store;
  private final List<Process> processes = new ArrayList<>();

  /// Starts a job whose workers all count.
  ///
  /// @param directory an empty directory
  /// @param silenceLimit the time without a sign of life after which a rank is lost, such as `5s`
  FailoverJob(Path directory, int servers, int workers, String transport, String silenceLimit)
      throws IOException {
    this(directory, servers, workers, transport, silenceLimit, -1);
  }

  /// Starts a job in which the worker of rank `puller` pulls long rows and the others count.
  FailoverJob(
      Path directory, int servers, int workers, String transport, String silenceLimit, int puller)
      throws IOException {
    this.directory = directory;
    this.servers = servers;
    this.workers = workers;
    this.transport = transport;
    this.silenceLimit = silenceLimit;
    this.puller = puller;
    this.store =
        TcpStoreServer.bind(
            InetAddress.getLoopbackAddress(),
            0,
            JobTrust.of(WeftConfig.builder().build(), secret, JobIdentity.ofName(JOB)),
            LIMIT);
    for (int rank = 0; rank < servers + workers; rank++) {
      processes.add(start(rank, "output-" + rank, false));
    }
  }

  /// @param rank the rank that the environment of the process names
  /// @param joins true if the job runs already
  private Process start(int rank, String output, boolean joins) throws IOException {
    var builder =
        new ProcessBuilder(
                JvmCommand.of(
                    rank < servers ? FIXED_HEAP : LARGE_HEAP,
                    CountingRank.class,
                    Integer.toString(servers),
                    directory.toString(),
                    Integer.toString(puller)))
            .redirectErrorStream(true)
            .redirectOutput(directory.resolve(output).toFile());
    var environment = builder.environment();
    environment.keySet().removeIf(name -> name.startsWith("WEFT_"));
    environment.put("WEFT_RANK", Integer.toString(rank));
    environment.put("WEFT_SIZE", Integer.toString(servers + workers));
    environment.put("WEFT_LOCAL_RANK", Integer.toString(rank));
    environment.put("WEFT_LOCAL_SIZE", Integer.toString(servers + workers));
    environment.put("WEFT_JOB", JOB);
    environment.put("WEFT_LAUNCHER", JOB);
    environment.put("WEFT_STORE", store.location());
    environment.putAll(SecretFile.variables(secret));
    environment.put("WEFT_TRANSPORT", transport);
    environment.put("WEFT_ON_FAILURE", "shrink");
    environment.put("WEFT_HEARTBEAT", "500ms");
    environment.put("WEFT_SILENCE_LIMIT", silenceLimit);
    environment.put("WEFT_KV_SHARDS", Integer.toString(SHARDS));
    environment.put("WEFT_KV_REPLY_MEMORY", Integer.toString(REPLY_BYTES));
    if (rank == puller) {
      environment.put("WEFT_KV_IN_FLIGHT", "1G");
    }
    if (joins) {
      environment.put("WEFT_JOIN", "true");
    }
    return builder.start();
  }

  /// Starts another process in place of a killed server and returns the number of the process.
  int replace(int rank) throws IOException {
    int number = processes.size();
    processes.add(start(rank % servers, "output-" + number, true));
    return number;
  }

  /// Waits until a process that was started in place of a server has become a server.
  void awaitServer(int number) throws IOException {
    Path told = directory.resolve(CountingRank.mirrored(processes.get(number).pid()));
    await(() -> Files.exists(told), "process " + number + " is a server");
  }

  /// Waits until every shard has its primary and its mirror among these servers.
  void awaitMirrors(List<Integer> numbers) throws IOException {
    await(() -> mirrored(numbers) == SHARDS, "all shards lie on two of the servers " + numbers);
  }

  private int mirrored(List<Integer> numbers) {
    int mirrored = 0;
    for (int number : numbers) {
      Path file = directory.resolve(CountingRank.mirrored(processes.get(number).pid()));
      try {
        mirrored += Files.exists(file) ? Integer.parseInt(Files.readString(file)) : 0;
      } catch (IOException | NumberFormatException written) {
        return -1; // the file is not complete at this moment
      }
    }
    return mirrored;
  }

  /// Waits until all ranks are ready.
  void awaitReady() throws IOException {
    for (int rank = 0; rank < servers + workers; rank++) {
      Path ready = directory.resolve(CountingRank.ready(rank));
      await(() -> Files.exists(ready), "rank " + rank + " is ready");
    }
  }

  /// Waits for `time` while the job works.
  void work(Duration time) {
    long end = Ticker.SYSTEM.nanos() + time.toNanos();
    while (end - Ticker.SYSTEM.nanos() > 0) {
      LockSupport.parkNanos(Math.min(LOOK_NANOS, end - Ticker.SYSTEM.nanos()));
    }
  }

  private void await(BooleanSupplier condition, String words) throws IOException {
    long end = Ticker.SYSTEM.nanos() + LIMIT.toNanos();
    while (!condition.getAsBoolean()) {
      if (end - Ticker.SYSTEM.nanos() < 0) {
        throw new IllegalStateException("not within " + LIMIT + ": " + words + "\n" + output());
      }
      LockSupport.parkNanos(LOOK_NANOS);
    }
  }

  /// Kills a rank, as by `kill -9`.
  void kill(int rank) throws InterruptedException {
    boolean unused =
        processes.get(rank).destroyForcibly().waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS);
  }

  /// Sends a signal to a rank, such as `STOP` or `CONT`.
  void signal(int rank, String name) throws IOException, InterruptedException {
    int code =
        new ProcessBuilder("kill", "-" + name, Long.toString(processes.get(rank).pid()))
            .inheritIO()
            .start()
            .waitFor();
    if (code != 0) {
      throw new IOException("kill -" + name + " has ended with code " + code);
    }
  }

  /// Returns the resident memory of a rank.
  long residentBytes(int rank) throws IOException {
    Path status = Path.of("/proc", Long.toString(processes.get(rank).pid()), "status");
    for (String line : Files.readAllLines(status)) {
      Matcher resident = RESIDENT.matcher(line);
      if (resident.matches()) {
        return Long.parseLong(resident.group(1)) << 10;
      }
    }
    throw new IOException(status + " says nothing of resident memory");
  }

  /// Ends the counting and returns the result of each of these workers.
  List<String> results(List<Integer> workers) throws IOException {
    Files.writeString(directory.resolve(CountingRank.STOP), "");
    List<String> results = new ArrayList<>();
    for (int worker : workers) {
      Path result = directory.resolve(CountingRank.result(worker));
      await(
          () -> Files.exists(result) || !processes.get(worker).isAlive(),
          "rank " + worker + " has compared");
      await(() -> !processes.get(worker).isAlive(), "rank " + worker + " has ended");
      results.add(Files.exists(result) ? Files.readString(result) : "nothing said");
    }
    return results;
  }

  /// Returns the longest time in ms that a worker waited for an acknowledgement, or -1 if a worker
  /// found a wrong value.
  static long longestMillis(List<String> results) {
    long longest = 0;
    for (String each : results) {
      Matcher right = RIGHT.matcher(each);
      if (!right.matches()) {
        return -1;
      }
      longest = Math.max(longest, Long.parseLong(right.group(2)));
    }
    return longest;
  }

  /// Returns the ranks of the workers.
  List<Integer> workers() {
    List<Integer> ranks = new ArrayList<>();
    for (int rank = servers; rank < servers + workers; rank++) {
      ranks.add(rank);
    }
    return ranks;
  }

  /// Returns the output of all processes.
  String output() throws IOException {
    var all = new StringBuilder();
    for (int rank = 0; rank < processes.size(); rank++) {
      all.append("process ")
          .append(rank)
          .append(":\n")
          .append(Files.readString(directory.resolve("output-" + rank)));
    }
    return all.toString();
  }

  @Override
  public void close() {
    processes.forEach(Process::destroyForcibly);
    store.close();
  }
}
