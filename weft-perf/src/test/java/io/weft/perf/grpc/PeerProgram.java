// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/// A program of the peer gRPC as `weft perf` starts it: a separate JVM, none of whose processes is
/// left after a run.
public final class PeerProgram {

  private static final int LIMIT_SECONDS = 120;

  private final Class<?> main;
  private final Path out;
  private final Path err;

  /// @param directory the directory for its output
  public PeerProgram(Class<?> main, Path directory) {
    this.main = main;
    this.out = directory.resolve("out");
    this.err = directory.resolve("err");
  }

  /// Runs the program and returns its exit code.
  public int run(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-XX:+UseSerialGC",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-cp",
            ManagementFactory.getRuntimeMXBean().getClassPath(),
            main.getName()));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command)
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
    try {
      assertThat(process.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
      return process.exitValue();
    } finally {
      List<ProcessHandle> offspring = process.descendants().toList();
      process.destroyForcibly();
      offspring.forEach(ProcessHandle::destroyForcibly);
    }
  }

  /// Returns the output of the last run.
  public List<String> lines() throws IOException {
    return Files.readAllLines(out);
  }

  /// Returns the error output of the last run.
  public String errors() throws IOException {
    return Files.readString(err);
  }
}
