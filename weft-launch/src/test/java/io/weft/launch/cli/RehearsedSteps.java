// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import io.weft.Weft;
import io.weft.cluster.ProcessSet;
import io.weft.cluster.elastic.OnFailure;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/// A substitute for training whose ranks depend on each other. It runs allreduces instead of
/// computing, for thousands of steps, or for a few more after a rank is lost. Ranks that train
/// without servers continue without a lost rank if the settings permit it. With servers, each
/// worker reduces with the servers, and with the other workers if they wait for each other.
record RehearsedSteps(int workers, int servers, boolean synchronous) {

  private static final int STEPS_A_LINE = 100;
  private static final int STEPS_AFTER_LOSS = 20;
  private static final Duration SHRINKING = Duration.ofSeconds(60);

  /// Reads `--workers`, `--servers` and `--sync`. Without servers there are no tasks.
  static RehearsedSteps of(List<String> arguments) {
    return new RehearsedSteps(
        Integer.parseInt(after(arguments, "--workers", "0")),
        Integer.parseInt(after(arguments, "--servers", "0")),
        arguments.contains("--sync"));
  }

  private static String after(List<String> arguments, String option, String otherwise) {
    int at = arguments.indexOf(option);
    return at < 0 ? otherwise : arguments.get(at + 1);
  }

  /// Returns the launcher's plan of the tasks in the workloads' format.
  String plan() {
    int ranks = workers + servers;
    return servers == 0
        ? ""
        : "ranks="
            + ranks
            + " reports="
            + servers
            + (synchronous ? "" : " dispensable=" + servers + "-" + (ranks - 1));
  }

  /// Runs this process as a rank and returns its exit code.
  int run(PrintWriter out, PrintWriter err) {
    try (Weft weft = Weft.init()) {
      if (servers == 0) {
        return train(weft, out, err);
      }
      return weft.rank() < servers ? serve(weft) : work(weft, out, err);
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }

  private static int train(Weft weft, PrintWriter out, PrintWriter err)
      throws InterruptedException {
    Communicator all = weft.communicator();
    long left = Long.MAX_VALUE;
    for (long step = 1; left > 0; left--) {
      try {
        step(weft, all);
        if (weft.rank() == all.members().ranks().getFirst()) {
          tell(err, step);
        }
        step++;
      } catch (CommException failure) {
        if (weft.config().onFailure() != OnFailure.SHRINK) {
          say(err, failure.getMessage());
          return 1;
        }
        all = weft.shrink(SHRINKING);
        say(err, "going on with " + all.size() + " ranks after step " + step);
        left = STEPS_AFTER_LOSS;
      }
    }
    say(out, "trained on " + all.size() + " ranks");
    return 0;
  }

  /// Reduces with each worker until the worker has ended or is lost.
  private int serve(Weft weft) throws InterruptedException {
    List<Thread> serving = new ArrayList<>();
    for (Communicator each : groups(weft)) {
      serving.add(
          Thread.ofPlatform()
              .start(
                  () -> {
                    try {
                      while (true) {
                        step(weft, each);
                      }
                    } catch (CommException | IllegalStateException ended) {
                      each.close();
                    } catch (InterruptedException interrupted) {
                      throw new IllegalStateException(interrupted);
                    }
                  }));
    }
    for (Thread each : serving) {
      each.join();
    }
    return 0;
  }

  private int work(Weft weft, PrintWriter out, PrintWriter err) throws InterruptedException {
    Communicator own = groups(weft).getFirst();
    var loss = new AtomicBoolean();
    weft.onFailure(cause -> loss.set(true));
    long left = Long.MAX_VALUE;
    try {
      for (long step = 1; left > 0; step++, left--) {
        step(weft, own);
        tell(err, step);
        if (loss.compareAndSet(true, false)) {
          left = STEPS_AFTER_LOSS;
        }
      }
    } catch (CommException failure) {
      say(err, "step failed: " + failure.getMessage());
      return 1;
    }
    say(out, "trained as one of " + workers + " workers");
    return 0;
  }

  /// Returns the communicators of this rank. All members create them in the same order.
  private List<Communicator> groups(Weft weft) {
    List<Integer> ranks = new ArrayList<>();
    for (int rank = 0; rank < servers; rank++) {
      ranks.add(rank);
    }
    List<Communicator> own = new ArrayList<>();
    if (synchronous) {
      own.add(weft.communicator());
      return own;
    }
    for (int worker = servers; worker < servers + workers; worker++) {
      if (weft.rank() < servers || weft.rank() == worker) {
        List<Integer> members = new ArrayList<>(ranks);
        members.add(worker);
        own.add(weft.communicator(new ProcessSet(members)));
      }
    }
    return own;
  }

  private static void step(Weft weft, Communicator among) throws InterruptedException {
    try (TensorLease gradient = weft.allocate(DType.FLOAT32, Shape.of(100))) {
      var unused =
          among
              .allreduce(
                  gradient.view(),
                  gradient.view(),
                  ReduceOp.AVERAGE,
                  CollectiveOptions.named("gradient"))
              .await();
    }
  }

  private static void tell(PrintWriter err, long step) {
    if (step % STEPS_A_LINE == 1) {
      say(err, "step " + step);
    }
  }

  private static void say(PrintWriter to, String text) {
    to.println(text);
    to.flush();
  }
}
