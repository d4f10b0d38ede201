// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import static io.weft.collective.CollectiveOptions.named;

import io.weft.Weft;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.telemetry.flight.FlightInstrument;
import io.weft.telemetry.flight.FlightLog.Flight;
import io.weft.telemetry.flight.FlightLog.State;
import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.JvmCommand;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// The program of a rank. Its mode is `silent RANK`, `killed RANK` (the rank is killed after all
/// others wait in an operation) or `fine`. The ranks share a directory.
final class FlightRank {

  private static final int LIMIT_SECONDS = 40;

  private FlightRank() {}

  /// Returns the command line of a rank.
  static List<String> command(Path directory, String... arguments) {
    var command =
        JvmCommand.of(
            List.of(
                "-XX:-UsePerfData",
                "-Djava.io.tmpdir=" + directory,
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"),
            FlightRank.class,
            directory.toString());
    command.addAll(List.of(arguments));
    return command;
  }

  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    try (Weft weft = Weft.init();
        OwnedTensor tensor = OwnedTensor.allocate(DType.FLOAT32, Shape.of(4))) {
      Communicator all = weft.communicator();
      for (int step = 0; step < 3; step++) {
        var unused = sum(all, tensor, "dense/bias", LIMIT_SECONDS).await();
      }
      if (arguments[1].equals("fine")) {
        return;
      }
      boolean odd = weft.rank() == Integer.parseInt(arguments[2]);
      switch (arguments[1]) {
        case "silent" -> {
          if (odd) {
            // The launcher ends this rank.
            var unused = new CountDownLatch(1).await(LIMIT_SECONDS, TimeUnit.SECONDS);
          }
          var unused = sum(all, tensor, "dense/kernel", 4).await();
        }
        case "killed" -> {
          if (odd) {
            awaitOthers(directory, weft.size() - 1);
            kill();
          }
          Handle<TensorView> handle = sum(all, tensor, "dense/kernel", LIMIT_SECONDS);
          awaitRunning(weft);
          Files.createFile(directory.resolve("waits-" + weft.rank()));
          var unused = handle.await();
        }
        default -> throw new IllegalArgumentException(arguments[1]);
      }
    } catch (CommException failed) {
      System.err.println("rank failed: " + failed.getMessage());
      System.exit(1);
    }
  }

  private static Handle<TensorView> sum(
      Communicator all, OwnedTensor tensor, String name, int seconds) {
    return all.allreduce(
        tensor.view(),
        tensor.view(),
        ReduceOp.SUM,
        named(name).within(Duration.ofSeconds(seconds)));
  }

  private static void awaitRunning(Weft weft) {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    while (FlightInstrument.log(weft).operations().stream().noneMatch(FlightRank::runs)) {
      pause(end);
    }
  }

  private static boolean runs(Flight flight) {
    return flight.state() == State.RUNNING && flight.stage() > 0;
  }

  private static void awaitOthers(Path directory, int count) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    while (waiting(directory) < count) {
      pause(end);
    }
  }

  private static long waiting(Path directory) throws Exception {
    try (var files = Files.list(directory)) {
      return files.filter(file -> file.getFileName().toString().startsWith("waits-")).count();
    }
  }

  private static void pause(long endNanos) {
    if (System.nanoTime() - endNanos > 0) {
      throw new IllegalStateException("nothing came for " + LIMIT_SECONDS + " s");
    }
    LockSupport.parkNanos(5_000_000);
  }

  private static void kill() throws Exception {
    String self = Long.toString(ProcessHandle.current().pid());
    var unused = new ProcessBuilder("kill", "-KILL", self).start().waitFor();
    // Not reached: the signal arrives before the program that sent it ends.
    throw new IllegalStateException("still alive");
  }
}
