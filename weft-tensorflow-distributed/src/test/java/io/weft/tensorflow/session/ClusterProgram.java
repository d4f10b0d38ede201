// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.Weft;
import io.weft.tensorflow.placement.ReplicaDeviceSetter;
import io.weft.tensorflow.placement.VariablePlacement;
import io.weft.testkit.job.JvmCommand;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.tensorflow.Tensor;

/// The program of one task of a cluster: a server that serves until the worker is gone, or a worker
/// that trains until a step fails. It prints the outcome.
final class ClusterProgram {

  private static final int RANKS = 2;
  private static final int MORE_STEPS = 3;

  private ClusterProgram() {}

  /// Starts the task of this rank. The file `trained` appears in `directory` when the worker has
  /// trained some steps.
  static Process start(Path directory, String transport, int rank) throws IOException {
    List<String> command =
        JvmCommand.of(
            List.of(
                "--enable-native-access=ALL-UNNAMED",
                "--sun-misc-unsafe-memory-access=allow",
                "-Djava.io.tmpdir=" + directory,
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"),
            ClusterProgram.class,
            directory.toString());
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder
        .environment()
        .putAll(
            Map.of(
                "WEFT_RANK", "" + rank,
                "WEFT_SIZE", "" + RANKS,
                "WEFT_LOCAL_RANK", "" + rank,
                "WEFT_LOCAL_SIZE", "" + RANKS,
                "WEFT_JOB", "cluster",
                "WEFT_TRANSPORT", transport,
                "TF_CPP_MIN_LOG_LEVEL", "2"));
    return builder.redirectOutput(printed(directory, rank)).start();
  }

  /// Returns the file with the output of this rank's task.
  static File printed(Path directory, int rank) {
    return directory.resolve("printed." + rank).toFile();
  }

  public static void main(String[] arguments) throws Exception {
    Path directory = Path.of(arguments[0]);
    try (Weft weft = Weft.init()) {
      String result;
      try (WeftServer server = WeftServer.start(weft, Clusters.spec(1, 1))) {
        if (server.task().job().equals("ps")) {
          server.join(Clusters.LONG);
          result = "served";
        } else {
          result = train(server, directory);
        }
      }
      Clusters.awaitNothing(weft);
      System.out.println(result + ", holds nothing");
    }
  }

  private static String train(WeftServer server, Path directory) throws Exception {
    SmallNetwork network = SmallNetwork.build();
    var placed =
        ReplicaDeviceSetter.of(server.cluster(), server.task(), VariablePlacement.ROUND_ROBIN)
            .place(network.graph());
    WeftSession session = WeftSession.open(server, placed, Clusters.LONG);
    session.run(network.init(), Clusters.LONG);
    Map<String, Tensor> batch = SmallNetwork.batch(0);
    long start = System.nanoTime();
    for (int step = 0; System.nanoTime() - start < Clusters.LONG.toNanos(); step++) {
      try {
        session.run(SmallNetwork.TRAIN, batch, Clusters.LONG).close();
      } catch (StepException e) {
        return what(e) + " at " + System.currentTimeMillis() + more(session, batch);
      }
      if (step == 20) {
        Files.createFile(directory.resolve("trained"));
      }
    }
    return "nothing failed";
  }

  /// Runs steps after one that has failed and returns their outcomes and durations.
  private static String more(WeftSession session, Map<String, Tensor> batch)
      throws InterruptedException {
    StringBuilder all = new StringBuilder();
    for (int i = 0; i < MORE_STEPS; i++) {
      long start = System.nanoTime();
      String how = "ran";
      try {
        session.run(SmallNetwork.TRAIN, batch, Clusters.LONG).close();
      } catch (StepException e) {
        how = what(e);
      }
      long millis = (System.nanoTime() - start) / 1_000_000;
      all.append(", ").append(how).append(" after ").append(millis).append(" ms");
    }
    return all.toString();
  }

  private static String what(StepException e) {
    return e.reason() + " " + e.task();
  }
}
