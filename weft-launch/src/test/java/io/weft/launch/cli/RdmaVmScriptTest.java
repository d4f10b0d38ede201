// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/// Checks the output of `tools/rdma-vm` without a virtual machine. The tests with the tag `rdma`,
/// which run in the machine, show that it creates one.
class RdmaVmScriptTest {

  private static final String SCRIPT = Path.of("..", "tools", "rdma-vm").toString();

  private record Ending(int code, String said) {}

  @Test
  void helpShowsOptionsAndExamples() throws IOException, InterruptedException {
    Ending ending = run("--help");
    assertThat(ending.code()).isZero();
    assertThat(ending.said()).contains("--share DIR", "--seconds N", "Exit code", "Examples:");
  }

  @Test
  void wrongOptionsAreNamed() throws IOException, InterruptedException {
    assertThat(run("--nonsense", "true")).isEqualTo(wrong("no option --nonsense"));
    assertThat(run("--seconds", "soon", "true").code()).isEqualTo(ExitCodes.WRONG_USAGE);
    assertThat(run("--seconds").said()).contains("--seconds needs a value");
    assertThat(run("--read", "/no/such", "true").said()).contains("no directory /no/such");
    assertThat(run().code()).isEqualTo(ExitCodes.WRONG_USAGE);
  }

  @Test
  void missingRequirementHasItsOwnExitCode() throws IOException, InterruptedException {
    Ending ending = run("true");
    assertThat(ending.code()).isEqualTo(77);
    assertThat(ending.said().lines()).singleElement().asString().startsWith("rdma-vm: ");
  }

  private static Ending wrong(String what) {
    return new Ending(ExitCodes.WRONG_USAGE, "rdma-vm: " + what + "; see tools/rdma-vm --help\n");
  }

  /// Runs the script with a cache that is not writable, so that it creates and starts nothing.
  private static Ending run(String... arguments) throws IOException, InterruptedException {
    var command = new ArrayList<>(List.of("bash", SCRIPT));
    command.addAll(List.of(arguments));
    var builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().put("XDG_CACHE_HOME", "/proc/nowhere");
    Process process = builder.start();
    process.getOutputStream().close();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    return new Ending(process.exitValue(), said);
  }
}
