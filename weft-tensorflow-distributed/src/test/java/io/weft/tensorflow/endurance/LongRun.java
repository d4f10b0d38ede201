// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.endurance;

import io.weft.testkit.job.JvmCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/// A server and a worker as processes, which this class starts, watches and judges. No process is
/// left when `run` returns or this process ends. One thread.
final class LongRun {

  private static final int RANKS = 2;
  private static final int SERVER = 0;
  private static final int WORKER = 1;
  private static final int END_SECONDS = 60;
  private static final long KIBIBYTES_PER_MEBIBYTE = 1024;

  private final Options options;
  private final PrintStream out;
  private final List<Process> ranks = new ArrayList<>();
  private final List<Look> looks = new ArrayList<>();
  private final long begun = System.nanoTime();

  LongRun(Options options, PrintStream out) {
    this.options = options;
    this.out = out;
  }

  /// The memory of both processes after `steps` steps.
  private record Look(int steps, long serverKibibytes, long workerKibibytes) {}

  /// Runs both processes and returns true if they succeeded. Faults are printed.
  boolean run() throws IOException, InterruptedException {
    Path directory = Files.createTempDirectory("weft-endurance-");
    Thread atExit = new Thread(() -> ranks.forEach(Process::destroyForcibly), "endurance-end");
    Runtime.getRuntime().addShutdownHook(atExit);
    try {
      out.println(options);
      ranks.add(start(directory, SERVER));
      ranks.add(start(directory, WORKER));
      boolean ended = follow(ranks.get(WORKER)) & hasEnded(SERVER, directory);
      return ended && isLevel();
    } finally {
      for (Process rank : ranks) {
        rank.destroyForcibly().waitFor();
      }
      Runtime.getRuntime().removeShutdownHook(atExit);
      remove(directory);
    }
  }

  /// Starts a rank with a heap of constant size, so that its memory changes only outside the heap.
  private Process start(Path directory, int rank) throws IOException {
    List<String> flags =
        List.of(
            "-Xms192m",
            "-Xmx192m",
            "-XX:+AlwaysPreTouch",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-Djava.io.tmpdir=" + directory,
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
    ProcessBuilder builder =
        new ProcessBuilder(
                JvmCommand.of(flags, EnduranceRank.class, options.words().toArray(String[]::new)))
            .redirectErrorStream(true);
    builder
        .environment()
        .putAll(
            Map.of(
                "WEFT_RANK", "" + rank,
                "WEFT_SIZE", "" + RANKS,
                "WEFT_LOCAL_RANK", "" + rank,
                "WEFT_LOCAL_SIZE", "" + RANKS,
                "WEFT_JOB", "endurance",
                "WEFT_TRANSPORT", options.transport(),
                "TF_CPP_MIN_LOG_LEVEL", "2"));
    return rank == WORKER
        ? builder.start()
        : builder.redirectOutput(printed(directory).toFile()).start();
  }

  private static Path printed(Path directory) {
    return directory.resolve("server.txt");
  }

  /// Reads the worker's output until the worker ends.
  private boolean follow(Process worker) throws InterruptedException {
    CompletableFuture<Void> heard =
        CompletableFuture.runAsync(() -> hear(worker))
            .whenComplete(
                (none, failure) -> {
                  if (failure != null) {
                    out.println("the worker is not watched any more: " + failure);
                    worker.destroyForcibly();
                  }
                });
    boolean ended = worker.waitFor(options.limit().toSeconds(), TimeUnit.SECONDS);
    if (!ended) {
      out.println("the worker was still running after " + options.limit());
      worker.destroyForcibly();
    }
    int code = worker.waitFor();
    if (code != 0) {
      out.println("the worker ended with " + code);
    }
    return ended && code == 0 && heard.handle((none, failure) -> failure == null).join();
  }

  private void hear(Process worker) {
    try (BufferedReader lines = worker.inputReader()) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        if (line.startsWith(EnduranceRank.AT)) {
          look(Integer.parseInt(line.substring(EnduranceRank.AT.length())));
          worker.getOutputStream().write('\n');
          worker.getOutputStream().flush();
        } else {
          out.println(line);
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void look(int steps) throws IOException {
    Look look = new Look(steps, resident(ranks.get(SERVER)), resident(ranks.get(WORKER)));
    looks.add(look);
    out.printf(
        "after %7d steps, %5d s: resident server %d MiB, worker %d MiB%n",
        steps,
        TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begun),
        look.serverKibibytes() / KIBIBYTES_PER_MEBIBYTE,
        look.workerKibibytes() / KIBIBYTES_PER_MEBIBYTE);
  }

  /// Returns the resident memory in KiB, as Linux counts it (proc(5)).
  private static long resident(Process process) throws IOException {
    for (String line : Files.readAllLines(Path.of("/proc/" + process.pid() + "/status"))) {
      if (line.startsWith("VmRSS:")) {
        return Long.parseLong(line.replaceAll("[^0-9]", ""));
      }
    }
    throw new IOException("the kernel does not tell the memory of process " + process.pid());
  }

  private boolean hasEnded(int rank, Path directory) throws IOException, InterruptedException {
    Process process = ranks.get(rank);
    boolean ended = process.waitFor(END_SECONDS, TimeUnit.SECONDS);
    if (!ended) {
      out.println("the server was still running " + END_SECONDS + " s after the worker");
      process.destroyForcibly().waitFor();
    }
    Files.readAllLines(printed(directory)).forEach(out::println);
    return ended && process.exitValue() == 0;
  }

  private boolean isLevel() {
    Look first = looks.getFirst();
    Look last = looks.getLast();
    long most = options.growthMebibytes() * KIBIBYTES_PER_MEBIBYTE;
    return isLevel("server", last.serverKibibytes() - first.serverKibibytes(), most)
        & isLevel("worker", last.workerKibibytes() - first.workerKibibytes(), most);
  }

  private boolean isLevel(String who, long grown, long most) {
    out.printf(
        "%s: %+.1f MiB between a tenth of the steps and the end%s%n",
        who,
        grown / (double) KIBIBYTES_PER_MEBIBYTE,
        grown > most ? ", MORE than " + options.growthMebibytes() : "");
    return grown <= most;
  }

  private static void remove(Path directory) throws IOException {
    try (Stream<Path> all = Files.walk(directory)) {
      all.sorted(Comparator.reverseOrder()).forEach(path -> path.toFile().delete());
    }
  }
}
