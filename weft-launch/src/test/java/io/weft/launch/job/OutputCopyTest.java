// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.launch.process.OutputWriter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OutputCopyTest {

  private final ByteArrayOutputStream shown = new ByteArrayOutputStream();
  private final LastLines last = new LastLines();

  @TempDir private Path directory;

  private String copy(String output, String prefix) throws Exception {
    var from = new ByteArrayInputStream(output.getBytes(StandardCharsets.UTF_8));
    var to = new PrintStream(shown, true, StandardCharsets.UTF_8);
    KeptOutput kept = KeptOutput.in(Optional.of(directory), "rank 0", to);
    try (OutputWriter writer = OutputWriter.start("test", to, () -> {})) {
      new OutputCopy(from, writer, kept.stream("stdout"), prefix, last).run();
      writer.drain(Duration.ofSeconds(10));
    }
    return shown.toString(StandardCharsets.UTF_8);
  }

  @Test
  void eachLineIsPrefixedWithItsRank() throws Exception {
    assertThat(copy("one\n\nzwei ü\nlast", "[1] "))
        .isEqualTo("[1] one\n[1] \n[1] zwei ü\n[1] last\n");
    assertThat(directory.resolve("stdout")).hasContent("one\n\nzwei ü\nlast");
    assertThat(last.lines()).containsExactly("one", "zwei ü", "last");
  }

  @Test
  void rawBytesPassUnchangedAndCarriageReturnsEndLines() throws Exception {
    assertThat(copy("\rstep 1\rstep 2\ndone", "")).isEqualTo("\rstep 1\rstep 2\ndone");
    assertThat(last.lines()).containsExactly("step 1", "step 2", "done");
  }

  @Test
  void longLineIsSplit() throws Exception {
    String text = copy("x".repeat(200_000), "[0] ");
    assertThat(text.lines()).hasSize(4).allMatch(line -> line.startsWith("[0] x"));
    assertThat(text.replaceAll("[^x]", "")).hasSize(200_000);
  }

  @Test
  void onlyTheLastLinesAreKept() throws Exception {
    copy("line\n".repeat(1000) + "end\n", "[0] ");
    assertThat(last.lines()).hasSize(20).endsWith("line", "end");
  }
}
