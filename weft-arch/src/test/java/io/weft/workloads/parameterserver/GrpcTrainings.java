// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.testkit.job.JvmCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// The program that runs all small trainings sequentially under TensorFlow's own runtime. All tasks
/// are in one separate process, because the ports that TensorFlow opens stay open until it ends.
/// The losses of each training are written to a file.
final class GrpcTrainings {

  private GrpcTrainings() {}

  static Process start(Path directory, Servers servers) throws IOException {
    List<String> flags =
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
    List<String> command =
        JvmCommand.of(
            flags,
            GrpcTrainings.class,
            directory.toString(),
            "" + servers.workers(),
            "" + servers.servers());
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().keySet().removeIf(name -> name.startsWith("WEFT_"));
    builder.environment().put("TF_CPP_MIN_LOG_LEVEL", "2");
    return builder.redirectOutput(printed(directory).toFile()).start();
  }

  static Path printed(Path directory) {
    return directory.resolve("printed");
  }

  /// Reads the losses of a training in the order of its steps.
  static List<Double> losses(Path directory, SmallTraining training) throws IOException {
    try (Stream<String> lines = Files.lines(directory.resolve(training.name()))) {
      return lines.map(Double::valueOf).toList();
    }
  }

  public static void main(String[] arguments) throws IOException {
    Path directory = Path.of(arguments[0]);
    var servers =
        new Servers(
            Servers.Via.GRPC, Integer.parseInt(arguments[1]), Integer.parseInt(arguments[2]), 0);
    for (SmallTraining training : SmallTraining.ALL) {
      ServedResult served =
          ServedRuns.served(
              training.settings(),
              servers,
              training.source(),
              Map.of("WEFT_TRANSPORT", "inproc", "WEFT_DEADLINE", "2m"));
      String losses =
          served.outcome().losses().stream().map(loss -> loss + "\n").collect(Collectors.joining());
      Files.writeString(directory.resolve(training.name()), losses);
    }
    System.exit(0); // TensorFlow's servers cannot be stopped.
  }
}
