// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import io.weft.cluster.watch.ProcessIdentity;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// A rank that was started: its process and the two threads that copy its output.
final class RankProcess {

  private final Placement placement;
  private final Process process;
  private final Optional<Path> directory;
  private final LastLines last = new LastLines();
  private final List<Thread> copies;

  private RankProcess(
      Placement placement, Process process, PrintStream out, PrintStream err, JobPlan plan)
      throws IOException {
    this.placement = placement;
    this.process = process;
    boolean raw = plan.output().isRaw(placement.rank());
    String prefix = raw ? "" : "[" + placement.rank() + "] ";
    this.directory = plan.outputDirectory().map(path -> path.resolve("rank." + placement.rank()));
    if (directory.isPresent()) {
      Files.createDirectories(directory.get());
    }
    // What a job of `weft run` prints of its own accord is not ours to judge.
    InputStream noticeless =
        plan.output().raw().isPresent()
            ? Notices.withoutTensorFlows(process.getErrorStream())
            : Notices.withoutJavas(process.getErrorStream());
    this.copies =
        List.of(
            copy(
                new OutputCopy(
                    process.getInputStream(), out, file(directory, "stdout"), prefix, last)),
            copy(new OutputCopy(noticeless, err, file(directory, "stderr"), prefix, last)));
  }

  /// Takes the process over.
  static RankProcess of(
      Placement placement, Process process, JobPlan plan, PrintStream out, PrintStream err)
      throws IOException {
    var rank = new RankProcess(placement, process, out, err, plan);
    rank.copies.forEach(Thread::start);
    return rank;
  }

  int rank() {
    return placement.rank();
  }

  Process process() {
    return process;
  }

  /// Once it has ended.
  ExitStatus status() {
    return new ExitStatus(process.exitValue(), !placement.isHere());
  }

  List<String> lastLines() {
    return last.lines();
  }

  /// Lets its output arrive, when it has ended; what it started may keep the streams open. Then
  /// notes its exit code beside its output.
  void drain(Duration limit) throws InterruptedException {
    for (Thread copy : copies) {
      copy.join(limit);
    }
    if (directory.isPresent() && !process.isAlive()) {
      try {
        Files.writeString(directory.get().resolve("exit"), status().code() + "\n");
      } catch (IOException full) {
        // As its output, which is lost then too.
        assert !full.toString().isEmpty();
      }
    }
  }

  /// Ends it at once, with what it started.
  void kill() {
    Stream.concat(process.descendants(), Stream.of(process.toHandle()))
        .toList()
        .forEach(ProcessHandle::destroyForcibly);
  }

  /// What is known of it now.
  Culprit.Fate fate() {
    boolean alive = process.isAlive();
    return new Culprit.Fate(
        placement.rank(),
        alive ? Optional.empty() : Optional.of(status()),
        alive && isStopped(),
        last.blamed());
  }

  /// Whether it can be seen that it, or a process that it started, is stopped.
  private boolean isStopped() {
    return Stream.concat(Stream.of(process.toHandle()), process.descendants())
        .anyMatch(handle -> ProcessIdentity.of(handle).isStopped());
  }

  /// "rank 1 on node7".
  String describe() {
    return "rank " + placement.rank() + " on " + placement.host();
  }

  private static Thread copy(OutputCopy copy) {
    return Thread.ofPlatform().daemon().name("weft-output").unstarted(copy);
  }

  private static OutputStream file(Optional<Path> directory, String name) throws IOException {
    return directory.isPresent()
        ? Files.newOutputStream(directory.get().resolve(name))
        : OutputStream.nullOutputStream();
  }
}
