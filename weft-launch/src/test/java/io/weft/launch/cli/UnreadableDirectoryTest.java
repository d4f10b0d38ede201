// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks a directory whose name the locale cannot encode, as on a server without a locale.
@Timeout(60)
class UnreadableDirectoryTest {

  @TempDir private Path directory;

  @Test
  void nothingIsWrittenBesideTheDirectory() throws Exception {
    Path said = directory.resolve("said");
    // The name is in octal because this process's locale may not encode it either.
    String script = "d=$0/$(printf '\\303\\251'); mkdir \"$d\" && cd \"$d\" && exec \"$@\"";
    var builder = CommandProcess.of("run", "-np", "1", "--output-dir", "out", "--", "true");
    var command = builder.command();
    command.addAll(0, java.util.List.of("sh", "-c", script, directory.toString()));
    builder.environment().put("LC_ALL", "C");
    Process process = builder.redirectErrorStream(true).redirectOutput(said.toFile()).start();
    assertThat(process.waitFor(40, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(said)).isEqualTo(ExitCodes.WRONG_USAGE);
    assertThat(said).content().contains("encoding", "LC_ALL=C.UTF-8").doesNotContain("\tat ");
    try (var files = Files.list(directory)) {
      assertThat(files).hasSize(2);
    }
  }
}
