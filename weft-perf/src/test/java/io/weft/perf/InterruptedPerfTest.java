// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.launch.cli.Main;
import io.weft.testkit.job.JvmCommand;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(120)
final class InterruptedPerfTest {

  private static final long LIMIT_SECONDS = 60;

  @TempDir private Path directory;

  private static boolean isRank(ProcessHandle process) {
    return process.info().command().orElse("").endsWith("/java");
  }

  @Test
  void anInterruptedMeasurementReportsOnlyTheInterruption() throws Exception {
    // A background build ignores this signal, and its children would inherit that.
    var command = new ArrayList<>(List.of("env", "--default-signal=INT"));
    command.addAll(
        JvmCommand.of(
            List.of("--add-modules=jdk.incubator.vector"),
            Main.class,
            "perf",
            "allreduce",
            "--rounds",
            "1000",
            "--bytes",
            "4"));
    Path err = directory.resolve("err");
    Process perf =
        new ProcessBuilder(command)
            .redirectOutput(directory.resolve("out").toFile())
            .redirectError(err.toFile())
            .start();
    try {
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LIMIT_SECONDS);
      while (perf.descendants().noneMatch(InterruptedPerfTest::isRank)) {
        assertThat(System.nanoTime() - end).as("nanoseconds left").isNegative();
        assertThat(perf.waitFor(20, TimeUnit.MILLISECONDS)).as(err.toString()).isFalse();
      }
      String number = Long.toString(perf.pid());
      assertThat(new ProcessBuilder("kill", "-INT", number).start().waitFor()).isZero();
      assertThat(perf.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
      assertThat(perf.exitValue()).isEqualTo(130);
      assertThat(err)
          .content()
          .contains("weft: interrupted\n")
          .doesNotContain("printed", "failed", "Exception");
    } finally {
      perf.descendants().forEach(ProcessHandle::destroyForcibly);
      perf.destroyForcibly();
    }
  }
}
