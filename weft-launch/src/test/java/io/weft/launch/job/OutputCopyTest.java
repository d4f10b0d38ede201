// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class OutputCopyTest {

  private final ByteArrayOutputStream shown = new ByteArrayOutputStream();
  private final ByteArrayOutputStream kept = new ByteArrayOutputStream();
  private final LastLines last = new LastLines();

  private String copy(String output, String prefix) {
    var from = new ByteArrayInputStream(output.getBytes(StandardCharsets.UTF_8));
    new OutputCopy(from, new PrintStream(shown, true, StandardCharsets.UTF_8), kept, prefix, last)
        .run();
    return shown.toString(StandardCharsets.UTF_8);
  }

  @Test
  void linesGetTheirRank() {
    assertThat(copy("one\n\nzwei ü\nlast", "[1] "))
        .isEqualTo("[1] one\n[1] \n[1] zwei ü\n[1] last\n");
    assertThat(kept).hasToString("one\n\nzwei ü\nlast");
    assertThat(last.lines()).containsExactly("one", "zwei ü", "last");
  }

  @Test
  void rawBytesPassUnchangedAndRedrawnLinesAreLines() {
    assertThat(copy("\rstep 1\rstep 2\ndone", "")).isEqualTo("\rstep 1\rstep 2\ndone");
    assertThat(last.lines()).containsExactly("step 1", "step 2", "done");
  }

  @Test
  void endlessLineIsBroken() {
    String text = copy("x".repeat(200_000), "[0] ");
    assertThat(text.lines()).hasSize(4).allMatch(line -> line.startsWith("[0] x"));
    assertThat(text.replaceAll("[^x]", "")).hasSize(200_000);
  }

  @Test
  void onlyTheLastLinesAreKept() {
    copy("line\n".repeat(1000) + "end\n", "[0] ");
    assertThat(last.lines()).hasSize(20).endsWith("line", "end");
  }
}
