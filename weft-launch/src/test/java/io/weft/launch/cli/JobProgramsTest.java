// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks that programs whose actions must not end the job complete on two processes.
@Timeout(120)
class JobProgramsTest {

  @TempDir private Path directory;

  @ParameterizedTest
  @CsvSource({
    "TwoLayersProgram, tcp, 20 rounds are right",
    "BadArgumentsProgram, tcp, the job works on",
    "BadArgumentsProgram, shm, the job works on"
  })
  void bothRanksCompleteTheProgram(String program, String transport, String last) throws Exception {
    ProcessBuilder launcher = CommandProcess.of("run", "-np", "2", "--transport", transport, "--");
    List<String> command = new ArrayList<>(launcher.command());
    command.addAll(
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp",
            System.getProperty("java.class.path"),
            getClass().getPackageName() + "." + program));
    Path output = directory.resolve("output");
    Process job =
        launcher.command(command).redirectErrorStream(true).redirectOutput(output.toFile()).start();
    try {
      boolean ended = job.waitFor(100, TimeUnit.SECONDS);
      String text = Files.readString(output);
      assertThat(ended).as(text).isTrue();
      assertThat(job.exitValue()).as(text).isZero();
      assertThat(text.lines().filter(line -> line.contains(last))).as(text).hasSize(2);
    } finally {
      job.descendants().forEach(ProcessHandle::destroyForcibly);
      job.destroyForcibly();
    }
  }
}
