// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.launch.cli.Main;
import io.weft.testkit.job.JvmCommand;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Checks each harm of `tools/torture` once on a small job.
class TortureTest {

  @TempDir private Path directory;

  private static List<String> java(Class<?> program, String... arguments) {
    return JvmCommand.of(
        List.of("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"), program, arguments);
  }

  @ParameterizedTest
  @Timeout(240)
  @EnumSource(names = {"KILL", "CUT"})
  void harmIsNamedAndNothingIsLeft(Harm harm) throws Exception {
    assumeTrue(Files.isDirectory(Path.of("/proc/self")), "needs /proc to find the ranks");
    var program = new ArrayList<>(List.of("--"));
    program.addAll(java(EndlessSums.class));
    // The limit is long because the machine may be busy.
    Duration limit = Duration.ofSeconds(50);
    var scenario =
        new FaultScenario(
            java(Main.class, "run"),
            program,
            3,
            "^working",
            Duration.ofSeconds(1),
            limit,
            limit,
            directory);
    JobOutcome outcome = Torture.once(scenario, harm, Long.getLong("weft.test.seed", 1));
    assertThat(outcome.flaws()).as(outcome.toString()).isEmpty();
  }
}
