// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import io.weft.cluster.watch.ProcessIdentity;
import io.weft.launch.process.OutputWriter;
import io.weft.transport.limit.Span;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// A rank that was started: its process and the two threads that copy its output.
final class RankProcess {

  private final RankPlacement placement;
  private final int start;
  private final Process process;
  private final LastLines last = new LastLines();
  private final KeptOutput kept;
  private final List<Thread> copies;

  private RankProcess(
      RankPlacement placement,
      int start,
      Process process,
      Files files,
      OutputWriter out,
      OutputWriter err,
      JobPlan plan) {
    this.placement = placement;
    this.start = start;
    this.process = process;
    this.kept = files.kept();
    boolean raw = plan.output().isRaw(placement.rank());
    String prefix = raw ? "" : "[" + placement.rank() + "] ";
    // What a job of `weft run` prints of its own accord is not ours to judge.
    InputStream noticeless =
        plan.output().raw().isPresent()
            ? OutputFilter.withoutTensorFlows(process.getErrorStream())
            : OutputFilter.withoutJavas(process.getErrorStream());
    this.copies =
        List.of(
            copy(new OutputCopy(process.getInputStream(), out, files.out(), prefix, last)),
            copy(new OutputCopy(noticeless, err, files.err(), prefix, last)));
  }

  /// Where the output of one rank is kept.
  record Files(KeptOutput kept, KeptOutput.Stream out, KeptOutput.Stream err) {

    /// Makes them, before there is a process that would have to be ended without.
    ///
    /// @param start 0 at first
    static Files of(RankPlacement placement, int start, JobPlan plan, PrintStream err)
        throws IOException {
      String name = "rank." + placement.rank() + (start == 0 ? "" : "." + start);
      KeptOutput kept =
          KeptOutput.in(
              plan.outputDirectory().map(path -> path.resolve(name)),
              describe(placement, start),
              err);
      return new Files(kept, kept.stream("stdout"), kept.stream("stderr"));
    }
  }

  /// Takes the process over.
  ///
  /// @param start how often it was started before
  static RankProcess of(
      RankPlacement placement,
      int start,
      Process process,
      Files files,
      JobPlan plan,
      OutputWriter out,
      OutputWriter err) {
    var rank = new RankProcess(placement, start, process, files, out, err, plan);
    rank.copies.forEach(Thread::start);
    return rank;
  }

  /// The rank that it was started as; one that was started again has joined as another.
  int rank() {
    return placement.rank();
  }

  /// How often it was started before.
  int start() {
    return start;
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
    long end = System.nanoTime() + Span.nanos(limit);
    for (Thread copy : copies) {
      copy.join(Duration.ofNanos(Math.max(end - System.nanoTime(), 0)));
    }
    if (!process.isAlive()) {
      kept.exit(status().code());
    }
  }

  /// Waits at most so long for the end of its output; whether more may come.
  boolean speaks(Duration within) throws InterruptedException {
    for (Thread copy : copies) {
      if (!copy.join(within)) {
        return true;
      }
    }
    return false;
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
    return describe(placement, start);
  }

  private static String describe(RankPlacement placement, int start) {
    return "rank "
        + placement.rank()
        + (start == 0 ? "" : ", started again,")
        + " on "
        + placement.host();
  }

  private static Thread copy(OutputCopy copy) {
    return Thread.ofPlatform().daemon().name("weft-output").unstarted(copy);
  }
}
