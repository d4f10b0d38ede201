// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks the command with named pipes that have no writer in place of files. It reports the pipe
/// and ends, or continues where only evidence is missing, also after a request to end.
@Timeout(120)
class PipesForFilesTest {

  private static final long LIMIT_SECONDS = 40;

  @TempDir private Path directory;

  private Path pipe;

  @BeforeEach
  void makePipe() throws Exception {
    pipe = pipe("pipe");
  }

  private Path pipe(String name) throws Exception {
    Path made = directory.resolve(name);
    assertThat(new ProcessBuilder("mkfifo", "-m", "600", made.toString()).start().waitFor())
        .isZero();
    return made;
  }

  private Process start(ProcessBuilder builder) throws IOException {
    builder.environment().put("DIR", directory.toString());
    builder.redirectErrorStream(true);
    return builder.redirectOutput(directory.resolve("output").toFile()).start();
  }

  private void assertEnds(Process command, int code, String... words) throws Exception {
    boolean ended = command.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS);
    command.descendants().forEach(ProcessHandle::destroyForcibly);
    command.destroyForcibly();
    Path output = directory.resolve("output");
    String said = Files.readString(output, StandardCharsets.UTF_8);
    assertThat(ended).as(said).isTrue();
    assertThat(command.exitValue()).as(said).isEqualTo(code);
    assertThat(said).contains(words).doesNotContain("\tat ", "Exception");
  }

  /// `PIPE` stands for the pipe.
  @ParameterizedTest
  @CsvSource({
    "run -np 1 --secret-file PIPE -- true",
    "run --hostfile PIPE -- true",
    "run -np 1 --algorithms PIPE -- true",
    "train adult-dnn -np 1 --epochs 1 --algorithms PIPE"
  })
  void pipeForAFileIsRefusedWithItsName(String arguments) throws Exception {
    ProcessBuilder builder =
        CommandProcess.of(arguments.replace("PIPE", pipe.toString()).split(" "));
    builder.environment().put(RehearsedTraining.REAL, "1");
    assertEnds(start(builder), ExitCodes.WRONG_USAGE, pipe.toString(), "FIFO");
  }

  /// `PIPE` stands for the pipe.
  @ParameterizedTest
  @CsvSource({"run -np 1 --flight-dir PIPE -- true", "trace flight PIPE"})
  void pipeForADirectoryIsRefused(String arguments) throws Exception {
    String[] words = arguments.replace("PIPE", pipe.toString()).split(" ");
    Process command = start(CommandProcess.of(words));
    assertEnds(command, ExitCodes.WRONG_USAGE, pipe + ": not a directory");
  }

  @Test
  void pipeForTheSettingsIsRefusedWithItsName() throws Exception {
    ProcessBuilder builder = CommandProcess.of("run", "-np", "1", "--", "true");
    builder.environment().put("WEFT_CONFIG_FILE", pipe.toString());
    assertEnds(start(builder), ExitCodes.WRONG_USAGE, pipe.toString(), "FIFO");
  }

  @Test
  void pipeForACheckpointIsRefusedWithItsName() throws Exception {
    Path checkpoint = pipe("epoch-00001.weft");
    String[] arguments = {
      "train", "adult-dnn", "-np", "1", "--epochs", "1", "--checkpoint", directory.toString()
    };
    ProcessBuilder builder = CommandProcess.of(arguments);
    builder.environment().put(RehearsedTraining.REAL, "1");
    assertEnds(start(builder), ExitCodes.WRONG_USAGE, checkpoint.toString(), "FIFO");
  }

  @Test
  void pipeForAFlightFileIsNotEvidence() throws Exception {
    Path flight = pipe("rank-0.flight");
    Process command = start(CommandProcess.of("trace", "flight", directory.toString()));
    assertEnds(command, ExitCodes.MISSING, flight.getFileName().toString(), "FIFO");
  }

  @Test
  void pipeForAnEarlierFlightFileIsRefusedWithItsName() throws Exception {
    Path flight = pipe("rank-0.flight");
    String[] arguments = {"run", "-np", "1", "--flight-dir", directory.toString(), "--", "true"};
    Process command = start(CommandProcess.of(arguments));
    assertEnds(command, ExitCodes.WRONG_USAGE, flight.toString(), "FIFO");
  }

  @Test
  void pipeThatARankCreatesDoesNotBlockTheLauncher() throws Exception {
    assertEnds(start(rank("mkfifo $DIR/rank-0.flight; exit 5")), ExitCodes.FAILED, "rank 0");
  }

  @Test
  void pipeThatARankCreatesDoesNotBlockTheLaunchersTermination() throws Exception {
    Process command = start(rank("mkfifo $DIR/rank-0.flight; echo made; exec sleep 1000"));
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
    while (!Files.readString(directory.resolve("output")).contains("made")) {
      assertThat(System.nanoTime() - end).as("nanoseconds left").isNegative();
      assertThat(command.waitFor(20, TimeUnit.MILLISECONDS)).isFalse();
    }
    List<ProcessHandle> all = command.descendants().toList();
    command.destroy();
    assertEnds(command, 143, "made");
    for (ProcessHandle process : all) {
      process.onExit().get(LIMIT_SECONDS, TimeUnit.SECONDS);
    }
  }

  private ProcessBuilder rank(String script) {
    String flights = directory.toString();
    return CommandProcess.of("run", "-np", "1", "--flight-dir", flights, "--", "sh", "-c", script);
  }
}
