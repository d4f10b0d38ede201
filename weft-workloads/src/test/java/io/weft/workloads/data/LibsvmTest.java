// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LibsvmTest {

  @TempDir Path directory;

  @Test
  void indicesCountFromOne() throws IOException {
    Examples read = read("-1 1:1 3:1 \n+1 5:1\n\n+1\n");
    assertThat(read.labels()).containsExactly(0, 1, 1);
    assertThat(read.values())
        .containsExactly(1, 0, 1, 0, 0, /* */ 0, 0, 0, 0, 1, /* */ 0, 0, 0, 0, 0);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "+1 0:1",
        "+1 6:1",
        "+1 2:1 2:1",
        "+1 3:1 2:1",
        "+1 2:0.5",
        "+1 2",
        "+1 :1",
        "+1 x:1",
        "+1 99999999999:1",
        "+1 -2:1"
      })
  void aFeatureThatIsNotAllowedIsNamedWithItsLine(String line) {
    assertThatThrownBy(() -> read("-1 1:1\n" + line + "\n"))
        .isInstanceOf(DataException.Malformed.class)
        .hasMessageContaining("in line 2")
        .hasMessageContaining("rising indices of 1 to 5");
  }

  @Test
  void anotherLabelIsRefused() {
    assertThatThrownBy(() -> read("2 1:1\n"))
        .hasMessageContaining("label -1 or +1 at the start of line 1, found '2'");
  }

  @Test
  void lineEndsOfAnySystemAndAMissingOneAreRead() throws IOException {
    assertThat(read("-1 1:1\r\n+1 2:1").labels()).containsExactly(0, 1);
  }

  @Test
  void aLineThatDoesNotEndIsRefusedBeforeItFillsTheMemory() {
    assertThatThrownBy(() -> read("-1 1:1\n" + " ".repeat(70_000)))
        .isInstanceOf(DataException.Malformed.class)
        .hasMessageContainingAll("at most 65536 characters", "line 2");
  }

  @Test
  void anEmptyFileIsRefused() {
    assertThatThrownBy(() -> read("\n")).hasMessageContaining("an empty file");
  }

  private Examples read(String text) throws IOException {
    Path file = directory.resolve("a9a");
    Files.writeString(file, text);
    return Libsvm.read(new DataFile(file, "get it somewhere"), 5);
  }
}
