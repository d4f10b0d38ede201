// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.launch.cli.Subcommand;
import java.util.ServiceLoader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/// Checks `weft perf` as a subcommand that `weft` discovers.
final class PerfSubcommandTest {

  private static CommandLine perf() {
    return ServiceLoader.load(Subcommand.class).findFirst().orElseThrow().commandLine();
  }

  @Test
  void theUsageHasAnExample() {
    assertThat(perf().getCommandName()).isEqualTo("perf");
    assertThat(perf().getUsageMessage()).contains("Example").contains("weft perf");
    assertThat(perf().getSubcommands())
        .containsOnlyKeys("wide-deep-traffic", "gradients", "kv", "training", "order");
  }

  @ParameterizedTest
  @CsvSource({
    "--secure allreduce, on",
    "--secure off allreduce, off",
    "allreduce, auto",
    "wide-deep-traffic --secure, on"
  })
  void theOptionSecureMayHaveNoValue(String line, String mode) {
    CommandLine perf = perf();
    CommandLine.ParseResult parsed = perf.parseArgs(line.split(" "));
    CommandLine command =
        parsed.hasSubcommand() ? perf.getSubcommands().get("wide-deep-traffic") : perf;
    String value = command.getCommandSpec().findOption("--secure").getValue();
    assertThat(value).isEqualTo(mode);
  }
}
