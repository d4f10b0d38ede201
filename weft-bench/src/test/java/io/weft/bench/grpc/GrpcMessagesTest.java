// SPDX-License-Identifier: Apache-2.0
package io.weft.bench.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// The program as `weft perf` starts it: two processes.
@Timeout(150)
final class GrpcMessagesTest {

  private static final int LIMIT_SECONDS = 120;

  @TempDir private Path directory;

  private int run(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "-XX:+UseSerialGC",
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-cp",
            ManagementFactory.getRuntimeMXBean().getClassPath(),
            GrpcMessages.class.getName()));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command)
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(out().toFile())
            .redirectError(directory.resolve("err").toFile())
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

  private Path out() {
    return directory.resolve("out");
  }

  private String errors() throws IOException {
    return Files.readString(directory.resolve("err"));
  }

  @Test
  void everyAnswerIsComparedAndEveryIterationTimed() throws IOException, InterruptedException {
    assertThat(run("messages:8:64", "1", "16:3", "64:2")).as(errors()).isZero();
    List<String> lines = Files.readAllLines(out());
    assertThat(lines).hasSize(4);
    assertThat(lines.get(0)).matches("peer grpc-java [0-9.]+ (epoll|nio)");
    assertThat(lines.get(1)).matches("times 16 checked( [1-9][0-9]*){3}");
    assertThat(lines.get(2)).matches("times 64 checked( [1-9][0-9]*){2}");
    assertThat(lines.get(3)).isEqualTo("done");
  }

  @ParameterizedTest
  @ValueSource(strings = {"messages:8", "allreduce:own", "messages:8:many"})
  void wrongArgumentsAreRefused(String what) throws IOException, InterruptedException {
    assertThat(run(what, "1", "64:2")).isEqualTo(2);
    assertThat(errors()).startsWith("usage: messages:OUTSTANDING:BATCH");
  }
}
