// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.endurance;

import io.weft.Weft;
import io.weft.rendezvous.RendezvousCounts;
import io.weft.tensorflow.KernelMode;
import io.weft.tensorflow.OpLibrary;
import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.ffm.BorrowedTensors;
import io.weft.tensorflow.session.WeftServer;
import io.weft.tensorflow.transfer.TransferLibrary;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.tensorflow.DeviceSpec;

/// The server or the worker of a long run, according to the rank in the environment. Ten times,
/// when nothing of a step is pending in it, the worker prints `at STEPS` and waits for a byte on
/// its standard input. The process exits with 0 if every result was correct and nothing is left at
/// the end.
final class EnduranceRank {

  /// The prefix of the worker's line after a tenth of the steps.
  static final String AT = "at ";

  private static final int LOOKS = 10;
  private static final Duration DRAINING = Duration.ofSeconds(30);

  private EnduranceRank() {}

  private record Terminal(InputStream in, PrintStream out) {

    /// Waits until the parent process has measured the memory. Throws if the parent is gone.
    void awaitTheWatch() throws IOException {
      if (in.read() < 0) {
        throw new IOException("who started this run is gone");
      }
    }
  }

  static DeviceSpec device(String job) {
    return DeviceSpec.newBuilder().job(job).task(0).build();
  }

  public static void main(String[] words) throws Exception {
    run(Options.parse(List.of(words)), new Terminal(System.in, System.out));
  }

  private static void run(Options options, Terminal terminal) throws Exception {
    ClusterSpec cluster =
        ClusterSpec.of(Map.of("ps", List.of("ps:1"), "worker", List.of("worker:1")));
    try (Weft weft = Weft.init()) {
      String who;
      try (WeftServer server = WeftServer.start(weft, cluster)) {
        requireAsynchronous();
        who = server.task().job();
        if (who.equals("ps")) {
          server.join(options.limit());
        } else {
          work(options, weft, server, terminal);
        }
      }
      await(() -> weft.rendezvous().counts().isEmpty(), () -> "" + weft.rendezvous().counts());
      await(
          () -> TransferLibrary.load().liveKernels() == 0,
          () -> TransferLibrary.load().liveKernels() + " kernels");
      await(
          () -> BorrowedTensors.live() == 0,
          () -> BorrowedTensors.live() + " tensors of TensorFlow's");
      terminal.out().println(who + ": holds nothing; " + weft.rendezvous().counts());
    }
  }

  /// Requires asynchronous kernels. They need the check of TensorFlow's code at start-up.
  private static void requireAsynchronous() {
    KernelMode mode = OpLibrary.load().mode();
    if (mode != KernelMode.ASYNCHRONOUS) {
      throw new IllegalStateException("kernels are " + mode);
    }
  }

  private static void work(Options options, Weft weft, WeftServer server, Terminal terminal)
      throws IOException, InterruptedException {
    try (Endured work =
        switch (options.work()) {
          case SMALL -> new SmallTensors(options, server);
          case CANCELLED -> new Cancellations(options, server);
        }) {
      int looks = 0;
      for (int step = 0; step < options.steps(); step++) {
        work.step(step);
        if ((step + 1L) * LOOKS / options.steps() > looks) {
          looks++;
          await(() -> isIdle(weft), () -> "" + weft.rendezvous().counts());
          terminal.out().println(AT + (step + 1));
          terminal.out().flush();
          terminal.awaitTheWatch();
        }
      }
      terminal.out().println("worker: " + work.summary());
    }
  }

  /// Returns true if nothing of any step is left.
  private static boolean isIdle(Weft weft) {
    RendezvousCounts counts = weft.rendezvous().counts();
    return counts.queued() + counts.published() + counts.draining() + counts.leases() == 0
        && counts.steps() == 0
        && BorrowedTensors.live() == 0;
  }

  private static void await(BooleanSupplier over, Supplier<String> left) {
    long end = System.nanoTime() + DRAINING.toNanos();
    while (!over.getAsBoolean()) {
      if (System.nanoTime() - end > 0) {
        throw new IllegalStateException("still there after " + DRAINING + ": " + left.get());
      }
      LockSupport.parkNanos(1_000_000);
    }
  }
}
