// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.WeftConfig;
import io.weft.telemetry.flight.FlightConfig;
import io.weft.telemetry.flight.FlightFile;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks the flight reports of jobs with real ranks.
@Timeout(120)
class JobFlightsTest {

  @TempDir Path directory;

  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  private int run(WeftConfig config, int ranks, String... arguments) throws Exception {
    var plan =
        new JobPlan(
            RankPlacement.here(ranks),
            FlightRank.command(directory, arguments),
            Map.of(),
            config,
            JobPlan.Output.PREFIXED);
    PrintStream told = new PrintStream(err, true, StandardCharsets.UTF_8);
    try (LaunchedJob job = LaunchedJob.start(plan, System.out, told)) {
      return job.await();
    }
  }

  private List<String> told() {
    return err.toString(StandardCharsets.UTF_8).lines().toList();
  }

  private static List<Path> launchDirectories() throws Exception {
    String own = "weft-job-" + ProcessHandle.current().pid() + "-";
    try (var entries = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
      return entries.filter(entry -> entry.getFileName().toString().startsWith(own)).toList();
    }
  }

  @Test
  void reportNamesRankThatNeverSubmitsWithItsLastOperation() throws Exception {
    List<Path> before = launchDirectories();
    int code = run(WeftConfig.builder().build(), 3, "silent", "2");
    assertThat(code).isEqualTo(1);
    assertThat(told())
        .anyMatch(
            line ->
                line.matches(
                    "weft: cause: the communicator of ranks 0-2 failed [0-9.]+ s into the job;"
                        + " first on rank [01]: .*'dense/kernel'.*"))
        .anyMatch(
            line ->
                line.matches(
                    "weft:   rank 2 on \\S+ never submitted allreduce 'dense/kernel' \\(use 1\\);"
                        + " its last was allreduce 'dense/bias' \\(use 3\\), done [0-9.]+ s before;"
                        + " ranks 0-1 waited in it"));
    assertThat(launchDirectories()).isEqualTo(before);
    try (var left = Files.list(directory)) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void reportNamesKilledRankAndTheOperationOthersWaitedIn() throws Exception {
    Path flights = directory.resolve("flights");
    int code =
        run(
            WeftConfig.builder().set(FlightConfig.DIRECTORY, flights.toString()).build(),
            3,
            "killed",
            "1");
    assertThat(told())
        .anyMatch(
            line ->
                line.matches(
                    "weft:   rank 1 on \\S+ left no file: killed by SIGKILL \\(exit code 137\\);"
                        + " rank [02] heard of it last [0-9.]+ s before the failure; ranks 0,2"
                        + " waited in allreduce 'dense/kernel' \\(use 1\\)"))
        .anyMatch(line -> line.contains("'weft trace flight " + flights + "'"))
        .noneMatch(line -> line.contains("never submitted"));
    assertThat(code).isNotZero();
    var files = new FlightFile(flights);
    assertThat(files.find(0)).isPresent();
    assertThat(files.find(1)).isEmpty();
    assertThat(files.find(2)).isPresent();
  }

  @Test
  void successfulJobLeavesNoFileAndRemovesThoseOfAnEarlierJob() throws Exception {
    Path flights = Files.createDirectory(directory.resolve("flights"));
    Files.writeString(flights.resolve("rank-0.flight"), "weft-flight 1\nof an earlier job\n");
    assertThat(
            run(
                WeftConfig.builder().set(FlightConfig.DIRECTORY, flights.toString()).build(),
                1,
                "fine"))
        .isZero();
    assertThat(told()).isEmpty();
    try (var left = Files.list(flights)) {
      assertThat(left).isEmpty();
    }
  }
}
