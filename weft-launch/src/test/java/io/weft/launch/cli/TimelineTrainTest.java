// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.weft.telemetry.timeline.TimelineFile;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Checks timelines of real trainings of real processes.
@Timeout(240)
class TimelineTrainTest {

  @TempDir Path directory;

  private Path traces;

  @BeforeEach
  void needsProc() {
    assumeTrue(Files.isReadable(Path.of("/proc/self/environ")), "needs /proc to find the rank");
    traces = directory.resolve("traces");
  }

  /// A disturbance of a job when it prints a line.
  @FunctionalInterface
  private interface Disturbance {

    /// Disturbs the job and returns true if this line is the trigger.
    boolean at(String line, Process launcher) throws Exception;
  }

  private record Ended(int code, String err) {}

  private Ended train(int ranks, List<String> more, Disturbance disturbance) throws Exception {
    var arguments = new ArrayList<>(List.of("train", "mnist-dnn", "-np", "" + ranks));
    // Only the killed rank may be lost, even on a busy machine.
    arguments.addAll(List.of("--silence-limit", "60s", "--deadline", "120s"));
    arguments.addAll(List.of("--start-deadline", "120s", "--timeline", traces.toString()));
    arguments.addAll(more);
    ProcessBuilder builder = CommandProcess.of(arguments.toArray(String[]::new));
    builder.environment().put(RehearsedTraining.REAL, "1");
    Process launcher = builder.redirectOutput(directory.resolve("out").toFile()).start();
    var err = new ArrayList<String>();
    try (BufferedReader reader = launcher.errorReader(StandardCharsets.UTF_8)) {
      boolean disturbed = false;
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        err.add(line);
        disturbed = disturbed || disturbance.at(line, launcher);
      }
      assertThat(launcher.waitFor(20, TimeUnit.SECONDS)).isTrue();
    } finally {
      launcher.descendants().forEach(ProcessHandle::destroyForcibly);
      launcher.destroyForcibly();
    }
    return new Ended(launcher.exitValue(), String.join("\n", err));
  }

  private JsonNode report(String told) throws IOException {
    var weft = new TypedCommand();
    Path json = directory.resolve("report.json");
    assertThat(weft.run("trace", "report", traces.toString(), "--json", json.toString()))
        .as("%s, after a training that said%n%s", weft.err(), told)
        .isZero();
    assertThat(weft.out()).contains("verdict: ");
    return JsonMapper.shared().readTree(Files.readString(json));
  }

  @Tag("long")
  @Test
  void survivorsLeaveTheirTimelinesWhenARankIsKilled() throws Exception {
    Ended ended =
        train(
            3,
            List.of("--epochs", "50"),
            (line, launcher) ->
                line.contains("epoch 1/50 ") && CommandProcess.rank(launcher, 2).destroyForcibly());
    assertThat(ended.code()).as(ended.err()).isNotZero();
    for (int rank = 0; rank < 2; rank++) {
      assertThat(TimelineFile.of(traces, rank)).as(ended.err()).isNotEmptyFile();
    }
    assertThat(TimelineFile.of(traces, 2)).doesNotExist();
    JsonNode report = report(ended.err());
    assertThat(report.get("ranks").intValue()).isEqualTo(2);
    assertThat(report.get("steps").longValue()).isPositive();
    assertThat(report.get("problems").toString()).contains("timelines of 2 of 3 ranks");
  }

  @Test
  void allRanksLeaveTheirTimelinesWhenTheLossIsNotANumber() throws Exception {
    Ended ended =
        train(
            2,
            List.of("--epochs", "2", "--optimizer", "momentum", "--lr", "1000", "--batch", "1000"),
            (line, launcher) -> true);
    assertThat(ended.code()).as(ended.err()).isEqualTo(1);
    assertThat(ended.err()).contains("the loss became ");
    JsonNode report = report(ended.err());
    assertThat(report.get("ranks").intValue()).isEqualTo(2);
    assertThat(report.get("steps").longValue()).isPositive();
    assertThat(report.get("problems")).isEmpty();
  }

  @Tag("lab")
  @Test
  void repeatedlyStoppedRankIsNamedAsTheSlowest() throws Exception {
    Ended ended =
        train(
            2,
            // The steps are long, so the stopped rank is nearly always computing.
            List.of("--epochs", "6", "--batch", "3000", "--threads", "1"),
            (line, launcher) -> {
              if (!line.contains("epoch 1/6 ")) {
                return false;
              }
              pulse(CommandProcess.rank(launcher, 1));
              return true;
            });
    assertThat(ended.code()).as(ended.err()).isZero();
    JsonNode report = report(ended.err());
    assertThat(report.get("slowestRank").intValue()).as(report.toString()).isEqualTo(1);
    assertThat(report.get("verdict").stringValue()).startsWith("rank 1 is the slowest");
    assertThat(report.get("byRank").get(1).get("waitingShare").doubleValue())
        .as(report.toString())
        .isLessThan(report.get("byRank").get(0).get("waitingShare").doubleValue());
  }

  /// Lets the process run only a third of the time.
  private static void pulse(ProcessHandle process) throws Exception {
    for (int i = 0; i < 200 && process.isAlive(); i++) {
      signal("STOP", process);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
      signal("CONT", process);
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(100));
    }
  }

  private static void signal(String name, ProcessHandle process) throws Exception {
    Process kill = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid())).start();
    assertThat(kill.waitFor(10, TimeUnit.SECONDS)).isTrue();
  }
}
