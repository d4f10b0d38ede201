// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import io.weft.cluster.watch.ProcessIdentity;
import io.weft.launch.process.OutputWriter;
import io.weft.transport.limit.ClampedDuration;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// A started rank: its process and the two threads that copy its output.
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
    // Output of a user's program is shown unchanged, except Java's notes on the launcher's flags.
    InputStream noticeless =
        plan.output().raw().isPresent()
            ? OutputFilter.withoutTensorFlows(process.getErrorStream())
            : OutputFilter.withoutJavas(process.getErrorStream());
    this.copies =
        List.of(
            copy(new OutputCopy(process.getInputStream(), out, files.out(), prefix, last)),
            copy(new OutputCopy(noticeless, err, files.err(), prefix, last)));
  }

  record Files(KeptOutput kept, KeptOutput.Stream out, KeptOutput.Stream err) {

    /// Creates the files before the process, because a failure afterwards would require ending it.
    ///
    /// @param start number of earlier starts of this rank
    static Files of(RankPlacement placement, int start, JobPlan plan, PrintStream err)
        throws IOException {
      String name = "rank." + placement.rank() + (start == 0 ? "" : "." + start);
      KeptOutput kept =
          KeptOutput.in(
              plan.output().directory().map(path -> path.resolve(name)),
              describe(placement, start),
              err);
      return new Files(kept, kept.stream("stdout"), kept.stream("stderr"));
    }
  }

  /// Takes ownership of the process.
  ///
  /// @param start number of earlier starts of this rank
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

  /// Returns the rank as which the process was started; a restarted process has joined as another
  /// one.
  int rank() {
    return placement.rank();
  }

  /// Returns the number of earlier starts of this rank.
  int start() {
    return start;
  }

  Process process() {
    return process;
  }

  ExitStatus status() {
    return new ExitStatus(process.exitValue(), !placement.isHere());
  }

  List<String> lastLines() {
    return last.lines();
  }

  /// Waits for the output of the ended process, at most `limit`, because its descendants may keep
  /// the streams open. Then writes its exit code next to its output.
  void drain(Duration limit) throws InterruptedException {
    long end = System.nanoTime() + ClampedDuration.nanos(limit);
    for (Thread copy : copies) {
      copy.join(Duration.ofNanos(Math.max(end - System.nanoTime(), 0)));
    }
    if (!process.isAlive()) {
      kept.exit(status().code());
    }
  }

  /// Waits at most `within` for the end of each stream. Returns true if more output may arrive.
  boolean speaks(Duration within) throws InterruptedException {
    for (Thread copy : copies) {
      if (!copy.join(within)) {
        return true;
      }
    }
    return false;
  }

  void kill() {
    Stream.concat(process.descendants(), Stream.of(process.toHandle()))
        .toList()
        .forEach(ProcessHandle::destroyForcibly);
  }

  Culprit.Fate fate() {
    boolean alive = process.isAlive();
    return new Culprit.Fate(
        placement.rank(),
        alive ? Optional.empty() : Optional.of(status()),
        alive && isStopped(),
        last.blamed());
  }

  /// Returns true if the process or one of its descendants is visibly stopped.
  private boolean isStopped() {
    return Stream.concat(Stream.of(process.toHandle()), process.descendants())
        .anyMatch(handle -> ProcessIdentity.of(handle).isStopped());
  }

  /// Returns the rank in words: "rank 1 on node7".
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
