// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks that a plot which this machine cannot draw is refused before the training.
@Timeout(120)
class PlotWithoutFontTest {

  @TempDir private Path directory;

  @Test
  void aPlotIsRefusedBeforeTheFirstStepIfThereIsNoFont() throws Exception {
    Path fonts = Files.writeString(directory.resolve("fonts.conf"), "<fontconfig/>");
    ProcessBuilder builder =
        CommandProcess.of(
            "train",
            "mnist-dnn",
            "--engine",
            "djl",
            "--epochs",
            "1",
            "--plot",
            directory.resolve("run.svg").toString());
    List<String> command = builder.command();
    command.set(command.indexOf("-cp") + 1, RealTraining.withoutTests());
    builder.environment().put("FONTCONFIG_FILE", fonts.toString());
    // The JDK keeps the fonts that it has found in the home directory.
    builder.environment().put("JAVA_TOOL_OPTIONS", "-Duser.home=" + directory);
    Path said = directory.resolve("said");
    Process process = builder.redirectErrorStream(true).redirectOutput(said.toFile()).start();
    try {
      assertThat(process.waitFor(100, TimeUnit.SECONDS)).isTrue();
    } finally {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly();
    }
    assertThat(Files.readString(said))
        .contains("run.svg: the JDK cannot draw here (")
        .contains("install libfreetype6, fontconfig and a font, or leave the plot out")
        .doesNotContain("epoch 1", "\tat ");
    assertThat(process.exitValue()).isEqualTo(ExitCodes.MISSING);
  }
}
