// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Two processes, each with two layers over one communicator.
@Timeout(120)
class TwoLayersTest {

  @TempDir private Path directory;

  @Test
  void equalNamesOfTwoLayersDoNotMeet() throws Exception {
    ProcessBuilder launcher = CommandProcess.of("run", "-np", "2", "--transport", "tcp", "--");
    List<String> command = new ArrayList<>(launcher.command());
    command.addAll(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            TwoLayersProgram.class.getName()));
    Path output = directory.resolve("output");
    Process job =
        launcher.command(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
    try {
      boolean ended = job.waitFor(100, TimeUnit.SECONDS);
      String text = Files.readString(output);
      assertThat(ended).as(text).isTrue();
      assertThat(job.exitValue()).as(text).isZero();
      assertThat(text.lines().filter(line -> line.contains("20 rounds are right")))
          .as(text)
          .hasSize(2);
    } finally {
      job.descendants().forEach(ProcessHandle::destroyForcibly);
      job.destroyForcibly();
    }
  }
}
