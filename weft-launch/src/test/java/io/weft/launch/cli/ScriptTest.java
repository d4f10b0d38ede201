// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The script `weft` at the repository's root.
class ScriptTest {

  private static final Path SCRIPT = Path.of("..", "weft");

  @TempDir private Path directory;

  @Test
  void withoutANewEnoughJdkOneLineSaysWhatToInstall() throws IOException, InterruptedException {
    String script = Files.readString(SCRIPT);
    assertThat(script).contains("\noldest=25\n");
    Path demanding = directory.resolve("weft");
    Files.writeString(demanding, script.replace("\noldest=25\n", "\noldest=999\n"));
    Process process =
        new ProcessBuilder("sh", demanding.toString(), "doctor").redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes());
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).isEqualTo(ExitCodes.MISSING);
    assertThat(said.lines()).singleElement().asString().contains("JDK 999", "install", "JAVA_HOME");
  }
}
