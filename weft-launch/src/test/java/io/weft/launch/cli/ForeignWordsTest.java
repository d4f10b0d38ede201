// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks that the command repeats foreign text on one line, without characters that move a cursor.
class ForeignWordsTest {

  private static final String HOSTILE = "a\u001b[2Jb\u202ec\u009b2J";
  private static final String SHOWN = "a?[2Jb?c?2J";

  @TempDir private Path directory;

  private void assertShown(String... arguments) {
    TypedCommand typed = new TypedCommand();
    assertThat(typed.run(arguments)).as(typed.err()).isNotZero();
    assertThat(typed.err()).contains(SHOWN).doesNotContain("\u001b", "\u202e", "\u009b");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "run -np 1 -H X -- true",
        "run -np 1 -H X:many -- true",
        "run -np X -- true",
        "run -np 1 --X -- true",
        "X",
        "trace report X",
        "trace flight X",
        "run -np 1 -- X",
      })
  void argumentIsPrintedWithoutControlCharacters(String line) {
    assertShown(line.replace("X", HOSTILE).split(" "));
  }

  @Test
  void lineOfAHostFileIsPrintedWithoutControlCharacters() throws Exception {
    Path file = Files.writeString(directory.resolve("hosts"), HOSTILE + " many slots\n");
    assertShown("run", "--hostfile", file.toString(), "--", "true");
    Path names = Files.writeString(directory.resolve("names"), HOSTILE + "\n");
    assertShown("run", "--hostfile", names.toString(), "--", "true");
  }
}
