// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks the script where the system allows few open files.
@Timeout(60)
class FewFilesScriptTest {

  @Test
  void oneLineSaysHowManyOpenFilesAreNeeded() throws Exception {
    String script = Path.of("..", "weft").toAbsolutePath().normalize().toString();
    var builder = new ProcessBuilder("sh", "-c", "ulimit -n 40; exec sh \"$0\" run true", script);
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    Process process = builder.redirectErrorStream(true).start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(said).isEqualTo(ExitCodes.MISSING);
    assertThat(said.lines())
        .singleElement()
        .asString()
        .contains("40 files", "128", "ulimit -n 1024");
  }
}
