// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.agent.Ticker;
import io.weft.collective.CollectiveOptions;
import io.weft.comm.CommException;
import io.weft.telemetry.metrics.GoodputMeter;
import io.weft.telemetry.metrics.MetricsConfig;
import io.weft.telemetry.metrics.RankMetrics;
import io.weft.telemetry.timeline.EventKind;
import io.weft.telemetry.timeline.RankTimeline;
import io.weft.telemetry.timeline.TimelineConfig;
import io.weft.telemetry.timeline.TimelineEvent;
import io.weft.telemetry.timeline.TimelineFile;
import io.weft.telemetry.timeline.TimelineReader;
import io.weft.testkit.job.JvmCommand;
import io.weft.testkit.job.LocalJob;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks that settings alone enable timeline and metrics for programs that open neither.
@Timeout(60)
class InstrumentsTest {

  @TempDir private Path directory;

  private WeftConfig config(Map<String, String> settings) {
    return WeftConfig.load(settings, new Properties());
  }

  private static long operations(Path file, String name) throws IOException {
    long done = 0;
    try (InputStream in = TimelineFile.open(file)) {
      TimelineReader reader = TimelineReader.open(in);
      for (TimelineEvent event = reader.next(); event != null; event = reader.next()) {
        done += event.kind() == EventKind.DONE && event.name().equals(name) ? 1 : 0;
      }
    }
    return done;
  }

  private static void meet(Weft weft) throws InterruptedException {
    var unused = weft.communicator().barrier(CollectiveOptions.named("meet")).await();
  }

  @Test
  void aTimelineIsWrittenForAProgramThatOpensNone() throws IOException {
    Path traces = directory.resolve("traces");
    try (LocalJob job = LocalJob.start(2, config(Map.of("WEFT_TIMELINE", traces.toString())))) {
      var unused =
          job.run(
              weft -> {
                meet(weft);
                return true;
              });
    }
    assertThat(TimelineFile.in(traces)).containsOnlyKeys(0, 1);
    for (Path file : TimelineFile.in(traces).values()) {
      assertThat(operations(file, "meet")).isEqualTo(1);
    }
  }

  @Test
  void aProgramThatOpensItsTimelineGetsTheOpenOne() throws Exception {
    Path traces = directory.resolve("traces");
    try (LocalJob job = LocalJob.start(1, config(Map.of("WEFT_TIMELINE", traces.toString())))) {
      Weft weft = job.ranks().getFirst();
      try (RankTimeline own = RankTimeline.open(weft, Ticker.SYSTEM)) {
        assertThat(own).isSameAs(RankTimeline.open(weft, Ticker.SYSTEM));
        meet(weft);
        own.write();
      }
      assertThat(operations(TimelineFile.of(traces, 0), "meet")).isEqualTo(1);
      try (RankTimeline another = RankTimeline.open(weft, Ticker.SYSTEM)) {
        assertThat(another.isKept()).isTrue();
      }
    }
  }

  @Test
  void directoryThatCannotBeWrittenIsRefusedAtTheStart() throws IOException {
    Path file = Files.createFile(directory.resolve("file"));
    assertThatThrownBy(
            () -> LocalJob.start(1, config(Map.of("WEFT_TIMELINE", file.toString()))).close())
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContainingAll("option timeline", file.toString());
  }

  @Test
  void theVariableOfHorovodNamesTheDirectory() {
    assertThat(
            config(Map.of("HOROVOD_TIMELINE", "/tmp/x/run.json")).value(TimelineConfig.DIRECTORY))
        .contains(Path.of("/tmp/x/run"));
    assertThat(config(Map.of("HOROVOD_TIMELINE", "DYNAMIC")).value(TimelineConfig.DIRECTORY))
        .isEmpty();
    assertThat(config(Map.of("HOROVOD_TIMELINE", "")).value(TimelineConfig.DIRECTORY)).isEmpty();
  }

  private static int freePort() throws IOException {
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    }
  }

  private static String read(int port) {
    try (InputStream in =
        URI.create("http://127.0.0.1:" + port + "/metrics").toURL().openStream()) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  @Test
  void metricsAreServedForAProgramThatOpensNone() throws Exception {
    int port = freePort();
    try (LocalJob job = LocalJob.start(1, config(Map.of("WEFT_METRICS", "" + port)))) {
      Weft weft = job.ranks().getFirst();
      meet(weft);
      assertThat(read(port).lines())
          .contains("weft_operations_total{end=\"done\"} 1.0")
          .noneMatch(line -> line.startsWith("weft_steps_total "));
      var goodput = new GoodputMeter(1);
      try (RankMetrics own =
          RankMetrics.open(
              weft, goodput, weft.config().value(MetricsConfig.ADDRESS).orElseThrow())) {
        assertThat(own.address().port()).isEqualTo(port);
        assertThat(read(port).lines()).contains("weft_steps_total 0.0");
      }
      assertThatThrownBy(() -> read(port)).isInstanceOf(UncheckedIOException.class);
    }
  }

  /// A rank that runs an operation, reports it and waits for a signal to end it.
  static final class Waiting {

    private Waiting() {}

    public static void main(String[] arguments) throws Exception {
      try (Weft weft = Weft.init()) {
        meet(weft);
        System.out.println("met");
        var unused = System.in.read();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"TERM", "INT"})
  void aTimelineIsWrittenByARankThatASignalEnds(String signal) throws Exception {
    Path traces = directory.resolve("traces");
    var command = new java.util.ArrayList<>(List.of("env", "--default-signal=INT"));
    command.addAll(JvmCommand.of(Waiting.class));
    var builder = new ProcessBuilder(command).redirectError(directory.resolve("err").toFile());
    var environment = new TreeMap<>(builder.environment());
    environment.keySet().stream()
        .filter(name -> name.startsWith("WEFT_"))
        .forEach(builder.environment()::remove);
    builder.environment().put("WEFT_TIMELINE", traces.toString());
    Process rank = builder.start();
    try {
      assertThat(rank.inputReader().readLine())
          .as(() -> directory.resolve("err").toString())
          .isEqualTo("met");
      assertThat(new ProcessBuilder("kill", "-" + signal, "" + rank.pid()).start().waitFor())
          .isZero();
      assertThat(rank.waitFor(30, TimeUnit.SECONDS)).isTrue();
    } finally {
      rank.destroyForcibly();
    }
    assertThat(operations(TimelineFile.of(traces, 0), "meet")).isEqualTo(1);
  }
}
