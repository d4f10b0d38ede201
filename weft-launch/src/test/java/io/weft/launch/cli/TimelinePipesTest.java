// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks that the commands of `weft trace` refuse a named pipe in place of a directory.
@Timeout(60)
class TimelinePipesTest {

  @TempDir private Path directory;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "trace report PIPE",
        "trace report PIPE --json OUT",
        "trace merge PIPE --out OUT",
        "trace merge PIPE --html OUT",
        "trace flight PIPE --json OUT",
      })
  void pipeForADirectoryIsRefusedImmediately(String arguments) throws Exception {
    Path pipe = directory.resolve("pipe");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    Path out = directory.resolve("out");
    TypedCommand typed = new TypedCommand();
    String line = arguments.replace("PIPE", pipe.toString()).replace("OUT", out.toString());
    assertThat(typed.run(line.split(" "))).isEqualTo(ExitCodes.WRONG_USAGE);
    assertThat(typed.err()).contains(pipe.toString(), "not a directory");
    assertThat(out).doesNotExist();
  }
}
