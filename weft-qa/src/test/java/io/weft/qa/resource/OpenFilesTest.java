// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.resource;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.testkit.job.JvmCommand;
import io.weft.testkit.program.Needs;
import io.weft.testkit.program.OptionalProgram;
import io.weft.transport.limit.OpenFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class OpenFilesTest {

  @TempDir private Path directory;

  @Test
  void onlyTooManyOpenFilesAreBlamedOnTheLimit() {
    OpenFiles files = new OpenFiles("77");
    assertThat(files.advice(new IOException("Connection refused"))).isEmpty();
    assertThat(files.advice(new IOException("Too many open files")))
        .contains("77")
        .contains("ulimit -n");
  }

  @Test
  @Timeout(240)
  @Needs(OptionalProgram.PRLIMIT)
  void aReachedLimitIsNamedAndNothingHangs() throws Exception {
    Path out = directory.resolve("out");
    var command = new ArrayList<>(List.of("prlimit", "--nofile=150:150"));
    command.addAll(JvmCommand.of(FewFiles.class));
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile()).start();
    try {
      assertThat(process.waitFor(200, TimeUnit.SECONDS)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    List<String> lines = Files.readAllLines(out, StandardCharsets.UTF_8);
    assertThat(lines).contains("at first: 2, 1", "in the end: 2, 1");
    List<String> attempts = lines.stream().filter(line -> line.contains(" left: ")).toList();
    assertThat(attempts).hasSize(14);
    // With a few files left, there may be other or additional causes, such as a slow machine.
    for (String with : List.of("job with 0 left: ", "job with 2 left: ")) {
      assertThat(attempts)
          .filteredOn(line -> line.startsWith(with))
          .singleElement()
          .asString()
          .contains("may have 150 files", "'ulimit -n'")
          .containsAnyOf("cannot listen on", "cannot open a selector", "look for transports");
    }
    assertThat(lines)
        .anyMatch(
            line ->
                line.contains("job's store")
                    && line.contains("Too many open files")
                    && line.contains("may have 150 files"));
    assertThat(process.exitValue()).isZero();
  }
}
