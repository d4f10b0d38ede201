// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import io.weft.Weft;
import io.weft.collective.CollectiveOptions;
import io.weft.comm.CommException;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.spi.ToolProvider;

/// A substitute for the workloads unless the environment requests the real ones. It prints its
/// arguments, and misbehaves as its workload's name says.
public final class RehearsedTraining implements ToolProvider {

  /// The variable that lets the real workloads train.
  static final String REAL = "WEFT_TEST_REAL_TRAINING";

  /// Called by the service loader.
  public RehearsedTraining() {}

  @Override
  public String name() {
    return System.getenv(REAL) == null ? "weft-train" : "weft-train-rehearsal";
  }

  @Override
  public int run(PrintWriter out, PrintWriter err, String... arguments) {
    List<String> all = List.of(arguments);
    return switch (all.getFirst()) {
      case "--list" -> say(out, "rehearsal", 0);
      case "--help" -> say(out, "options of rehearsal", 0);
      case "--validate", "--validate=own" ->
          all.contains("--wrong")
              ? say(err, "option --wrong is wrong", 2)
              : say(out, RehearsedSteps.of(all).plan(), 0);
      case "rehearsal" ->
          say(
              out,
              System.getenv("WEFT_RANK")
                  + " "
                  + all.subList(1, all.size())
                  + " "
                  + System.getenv("OMP_WAIT_POLICY")
                  + " "
                  + System.getenv("WEFT_DEADLINE")
                  + " "
                  + System.getProperty("weft.deadline"),
              0);
      case "lonely" ->
          System.getenv("WEFT_RANK").equals("1") ? say(err, "rank 1 gives up", 3) : wait(out);
      case "endless" -> wait(out);
      case "exchange" -> exchange(out, err);
      case "steps" -> RehearsedSteps.of(all).run(out, err);
      default -> throw new IllegalStateException("rehearsed crash");
    };
  }

  private static int say(PrintWriter to, String text, int code) {
    to.println(text);
    to.flush();
    return code;
  }

  private static int wait(PrintWriter out) {
    try {
      Process sleeper = new ProcessBuilder("sleep", "1000").start();
      say(out, "pid " + ProcessHandle.current().pid(), 0);
      return sleeper.waitFor();
    } catch (IOException | InterruptedException broken) {
      throw new IllegalStateException(broken);
    }
  }

  /// Meets the other ranks once, prints this process's id and waits for the others to meet again.
  /// Rank 1 never does, so the others are in the barrier when rank 1 is killed or stopped.
  private static int exchange(PrintWriter out, PrintWriter err) {
    try (Weft weft = Weft.init()) {
      CollectiveOptions meet = CollectiveOptions.named("meet");
      var unused = weft.communicator().barrier(meet).await();
      if (weft.rank() == 1) {
        say(out, "pid " + ProcessHandle.current().pid(), 0);
        new CountDownLatch(1).await();
      }
      var again = weft.communicator().barrier(meet);
      say(out, "pid " + ProcessHandle.current().pid(), 0);
      unused = again.await();
      return say(err, "rank 1 has met again", 1);
    } catch (CommException failure) {
      return say(err, failure.toString(), 1);
    } catch (InterruptedException interrupted) {
      throw new IllegalStateException(interrupted);
    }
  }

  @Override
  public int run(PrintStream out, PrintStream err, String... arguments) {
    return run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
  }
}
