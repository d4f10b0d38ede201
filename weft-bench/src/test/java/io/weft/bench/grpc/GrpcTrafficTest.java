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

/// The program as `weft perf wide-deep-traffic` starts it: a client and two servers.
@Timeout(150)
final class GrpcTrafficTest {

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
            GrpcTraffic.class.getName()));
    command.addAll(List.of(arguments));
    Process process =
        new ProcessBuilder(command)
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(directory.resolve("out").toFile())
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

  private String errors() throws IOException {
    return Files.readString(directory.resolve("err"));
  }

  @Test
  void everyTensorIsComparedAndStepsAreCounted() throws IOException, InterruptedException {
    assertThat(run("2", "5", "8", "500", "10", "2000", "1", "3")).as(errors()).isZero();
    List<String> lines = Files.readAllLines(directory.resolve("out"));
    assertThat(lines).hasSize(4);
    assertThat(lines.get(0)).matches("peer grpc-java [0-9.]+ (epoll|nio)");
    assertThat(lines.get(1)).matches("case 1 checked [1-9][0-9]* 2000000000 [0-9]+ [0-9]+ 5");
    assertThat(lines.get(2)).matches("case 3 checked [1-9][0-9]* 2000000000 [0-9]+ [0-9]+ 5");
    assertThat(lines.get(3)).isEqualTo("done");
  }

  @Test
  void wrongArgumentsAreRefused() throws IOException, InterruptedException {
    assertThat(run("2", "5")).isEqualTo(2);
    assertThat(errors()).startsWith("usage: SERVERS TENSORS BYTES");
  }
}
