// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.timeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.testkit.program.Needs;
import io.weft.testkit.program.OptionalProgram;
import java.io.BufferedOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks the page in a real browser, without network.
@Timeout(240)
class TracePageTest {

  @TempDir Path directory;

  private record Page(Path file, long events) {}

  private Page page() throws Exception {
    Recorded.job(directory, "inproc", 3, 6, 20);
    Path file = directory.resolve("page.html");
    try (var out = new BufferedOutputStream(Files.newOutputStream(file))) {
      return new Page(file, TracePage.write(JobTimelines.in(directory), out));
    }
  }

  private String browse(Path page, String... how) throws Exception {
    List<String> command = new ArrayList<>();
    command.add("chromium");
    command.addAll(
        List.of("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"));
    command.addAll(List.of("--hide-scrollbars", "--window-size=1100,520"));
    command.add("--user-data-dir=" + directory.resolve("profile"));
    command.addAll(List.of(how));
    command.add(page.toUri().toString());
    Path out = directory.resolve("browser-out");
    Process process =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectOutput(out.toFile())
            .redirectError(directory.resolve("browser-err").toFile())
            .start();
    try {
      assertThat(process.waitFor(120, TimeUnit.SECONDS)).as("browser ended").isTrue();
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
    return Files.readString(out, StandardCharsets.UTF_8);
  }

  @Test
  @Needs(OptionalProgram.CHROMIUM)
  void browserShowsRanksAndEvents() throws Exception {
    Page page = page();
    String dom = browse(page.file(), "--dump-dom");
    assertThat(dom)
        .contains("<span id=\"status\">" + page.events() + " events of 3 ranks</span>")
        .contains("data-drawn=\"" + page.events() + "\"");
    for (int rank = 0; rank < 3; rank++) {
      assertThat(dom).containsPattern("<li data-rank=\"" + rank + "\">rank " + rank + " on .*: ");
    }
  }

  @Test
  @Needs(OptionalProgram.CHROMIUM)
  void browserDrawsPicture() throws Exception {
    Page page = page();
    Path picture = directory.resolve("picture.png");
    String unused = browse(page.file(), "--screenshot=" + picture);
    byte[] png = Files.readAllBytes(picture);
    assertThat(png).hasSizeGreaterThan(5000);
    assertThat(new String(png, 1, 3, StandardCharsets.US_ASCII)).isEqualTo("PNG");
  }

  @Test
  void textOfTimelinesCannotEndTheScript() throws Exception {
    String html = Files.readString(page().file());
    assertThat(html).contains("read \\u003cinput>").doesNotContain("read <input>");
    assertThat(html).doesNotContain("http://").doesNotContain("https://");
  }
}
