// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.weft.testkit.job.OwnLoopback;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/// Checks the metrics of real trainings of real processes.
@Timeout(240)
class MetricsTrainTest {

  @TempDir Path directory;

  private static final String HOST = OwnLoopback.address().getHostAddress();

  /// Returns the first of two consecutive free ports.
  private static int freePorts() {
    return Integer.parseInt(OwnLoopback.free(2).substring(HOST.length() + 1));
  }

  private static List<String> metrics(int port) throws IOException {
    try (InputStream in =
        URI.create("http://" + HOST + ":" + port + "/metrics").toURL().openStream()) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    }
  }

  private Process train(String... more) throws IOException {
    var arguments = new ArrayList<>(List.of("train", "mnist-dnn", "-np", "2"));
    arguments.addAll(List.of("--start-deadline", "120s", "--deadline", "120s"));
    arguments.addAll(List.of(more));
    ProcessBuilder builder = CommandProcess.of(arguments.toArray(String[]::new));
    builder.environment().put(RehearsedTraining.REAL, "1");
    return builder.redirectOutput(directory.resolve("out").toFile()).start();
  }

  private static double value(List<String> lines, String metric) {
    return lines.stream()
        .filter(line -> line.startsWith(metric + " "))
        .mapToDouble(line -> Double.parseDouble(line.substring(metric.length() + 1)))
        .findFirst()
        .orElseThrow(() -> new AssertionError("no " + metric + " in " + lines));
  }

  @Test
  void eachRankServesItsMetricsAndTheReportSaysWhereTheTimeWent() throws Exception {
    int port = freePorts();
    Path json = directory.resolve("report.json");
    Process launcher =
        train("--epochs", "4", "--metrics", HOST + ":" + port, "--json", json.toString());
    var err = new ArrayList<String>();
    List<List<String>> served = new ArrayList<>();
    try (BufferedReader reader = launcher.errorReader(StandardCharsets.UTF_8)) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        err.add(line);
        if (served.isEmpty() && line.contains("epoch 2/4 ")) {
          served.add(metrics(port));
          served.add(metrics(port + 1));
        }
      }
      assertThat(launcher.waitFor(20, TimeUnit.SECONDS)).isTrue();
    } finally {
      launcher.descendants().forEach(ProcessHandle::destroyForcibly);
      launcher.destroyForcibly();
    }
    assertThat(launcher.exitValue()).as(String.join("\n", err)).isZero();
    assertThat(served).as(String.join("\n", err)).hasSize(2);
    for (int rank = 0; rank < 2; rank++) {
      List<String> lines = served.get(rank);
      assertThat(value(lines, "weft_rank_info{rank=\"" + rank + "\",size=\"2\"}")).isEqualTo(1);
      assertThat(value(lines, "weft_steps_total")).isPositive();
      assertThat(value(lines, "weft_time_seconds_total{use=\"compute\"}")).isPositive();
      assertThat(value(lines, "weft_time_seconds_total{use=\"start-up\"}")).isPositive();
      assertThat(value(lines, "weft_operations_total{end=\"done\"}")).isPositive();
      assertThat(value(lines, "weft_operations_total{end=\"failed\"}")).isZero();
      assertThat(value(lines, "weft_operation_bytes_total")).isPositive();
    }
    JsonNode goodput = JsonMapper.shared().readTree(Files.readString(json)).get("goodput");
    double sum = 0;
    for (String part :
        List.of("startUp", "compute", "exposed", "input", "checkpoint", "evaluation", "other")) {
      double seconds = goodput.get(part + "Seconds").doubleValue();
      assertThat(seconds).as(part).isNotNegative();
      sum += seconds;
    }
    for (JsonNode waiting : goodput.get("waitingSeconds")) {
      sum += waiting.doubleValue();
    }
    double wall = goodput.get("wallSeconds").doubleValue();
    assertThat(sum).as(goodput.toString()).isCloseTo(wall, within(1e-6 * wall));
    assertThat(goodput.get("computeSeconds").doubleValue()).isPositive();
    assertThat(directory.resolve("out")).content().contains("  goodput        ");
  }

  @Test
  void portInUseEndsTheJobBeforeTraining() throws Exception {
    int port = freePorts();
    try (var _ = new ServerSocket(port + 1, 1, OwnLoopback.address())) {
      Process launcher = train("--metrics", HOST + ":" + port);
      String err;
      try (BufferedReader reader = launcher.errorReader(StandardCharsets.UTF_8)) {
        err = String.join("\n", reader.lines().toList());
        assertThat(launcher.waitFor(20, TimeUnit.SECONDS)).isTrue();
      } finally {
        launcher.descendants().forEach(ProcessHandle::destroyForcibly);
        launcher.destroyForcibly();
      }
      assertThat(launcher.exitValue()).as(err).isEqualTo(2);
      assertThat(err)
          .contains("rank 1 cannot serve metrics at " + HOST + ":" + (port + 1) + " (")
          .contains("give another --metrics HOST:PORT")
          .doesNotContain("epoch 1/");
    }
  }

  @Test
  void malformedAddressIsRefusedBeforeAnyRankStarts() {
    var weft = new TypedCommand();
    assertThat(weft.run("train", "mnist-dnn", "-np", "2", "--metrics", "127.0.0.1:port"))
        .isEqualTo(ExitCodes.WRONG_USAGE);
    assertThat(weft.err()).contains("option metrics").contains("must be HOST:PORT, such as");
  }
}
