// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.ObjectMapper;

/// A runner of `weft train` with TensorFlow on a few examples, in processes as users start them.
///
/// @param directory directory for data and reports, owned by the caller
record RealTraining(Path directory) {

  private static final long LIMIT_SECONDS = 420;
  private static final int EXAMPLES = 256;
  private static final int PIXELS = 28 * 28;

  /// Writes the digits.
  static RealTraining in(Path directory) throws Exception {
    var training = new RealTraining(directory);
    for (String part : List.of("train", "t10k")) {
      training.write(part + "-images-idx3-ubyte", 256, PIXELS, EXAMPLES, 28, 28);
      training.write(part + "-labels-idx1-ubyte", 10, 1, EXAMPLES);
    }
    return training;
  }

  /// Runs one epoch of `mnist-dnn` on `ranks` ranks and returns its report.
  ///
  /// @param name name of this run, unique in the directory
  JsonNode run(String name, int ranks, String... options) throws Exception {
    return run("mnist-dnn", name, ranks, options);
  }

  /// Runs one epoch of a workload, whose files are in the directory, and returns its report.
  JsonNode run(String workload, String name, int ranks, String... options) throws Exception {
    return run(directory, workload, name, ranks, options);
  }

  /// Runs one epoch of a workload on data elsewhere, and returns its report.
  JsonNode run(Path data, String workload, String name, int ranks, String... options)
      throws Exception {
    Path report = directory.resolve(name + ".json");
    ProcessBuilder builder =
        CommandProcess.of(
            "train",
            workload,
            "-np",
            Integer.toString(ranks),
            "--epochs",
            "1",
            "--data",
            data.toString(),
            "--json",
            report.toString());
    List<String> command = builder.command();
    command.addAll(List.of(options));
    command.set(command.indexOf("-cp") + 1, withoutTests());
    Path said = directory.resolve(name + ".txt");
    Process process = builder.redirectErrorStream(true).redirectOutput(said.toFile()).start();
    try {
      boolean ended = process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
      assertThat(ended && process.exitValue() == 0)
          .as("%s, ended %s: %s", name, ended, Files.readString(said))
          .isTrue();
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
    return new ObjectMapper().readTree(report.toFile());
  }

  /// Returns the class path without test classes, which would rehearse training.
  static String withoutTests() {
    return Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
        .filter(path -> !path.endsWith("test-classes"))
        .collect(Collectors.joining(File.pathSeparator));
  }

  /// Writes a file in the published format, with values below `bound` that are equal in each run.
  private void write(String name, int bound, int bytesEach, int... sizes) throws Exception {
    var bytes = new ByteArrayOutputStream();
    var out = new DataOutputStream(bytes);
    out.writeInt(0x800 | sizes.length);
    for (int size : sizes) {
      out.writeInt(size);
    }
    var random = new Random(name.length());
    for (int i = 0; i < EXAMPLES * bytesEach; i++) {
      out.writeByte(random.nextInt(bound));
    }
    Files.write(directory.resolve(name), bytes.toByteArray());
  }
}
