// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.cluster.channel.ChannelEvents;
import io.weft.collective.CollectiveOptions;
import io.weft.comm.CommException;
import io.weft.observer.ObservedOperation.Service;
import io.weft.telemetry.TableRequest;
import io.weft.testkit.job.LocalJob;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class RankMetricsTest {

  private static int freePort() throws IOException {
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return free.getLocalPort();
    }
  }

  private static String read(MetricsAddress address) {
    try (InputStream in = URI.create("http://" + address + "/metrics").toURL().openStream()) {
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  @Test
  void otherPathsAreNotFound() throws IOException {
    var base = new MetricsAddress("127.0.0.1", freePort());
    try (LocalJob job = LocalJob.over("inproc", 1)) {
      var unused =
          job.run(
              weft -> {
                try (var metrics = RankMetrics.open(weft, new GoodputMeter(1), base)) {
                  assertThat(status(metrics.address(), "/metrics")).isEqualTo(200);
                  assertThat(status(metrics.address(), "/")).isEqualTo(200);
                  assertThat(status(metrics.address(), "/elsewhere")).isEqualTo(404);
                }
                return true;
              });
    }
  }

  private static int status(MetricsAddress address, String path) {
    try {
      var connection =
          (HttpURLConnection) URI.create("http://" + address + path).toURL().openConnection();
      return connection.getResponseCode();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  @Test
  void aRankServesItsMetrics() throws IOException {
    var base = new MetricsAddress("127.0.0.1", freePort());
    try (LocalJob job = LocalJob.over("inproc", 1)) {
      String text =
          job.run(
                  weft -> {
                    var goodput = new GoodputMeter(1);
                    goodput.step(3_000_000_000L, 1_000_000_000L, 500_000_000L);
                    try (RankMetrics metrics = RankMetrics.open(weft, goodput, base)) {
                      var unused =
                          weft.communicator().barrier(CollectiveOptions.named("meet")).await();
                      return read(metrics.address());
                    }
                  })
              .getFirst();
      assertThat(text.lines())
          .contains(
              "weft_steps_total 1.0",
              "weft_time_seconds_total{use=\"compute\"} 1.5",
              "weft_time_seconds_total{use=\"communication\"} 1.0",
              "weft_time_seconds_total{use=\"input\"} 0.5",
              "weft_waiting_seconds_total{rank=\"0\"} 0.0",
              "weft_operations_total{end=\"failed\"} 0.0",
              "weft_rank_info{rank=\"0\",size=\"1\"} 1.0");
    }
  }

  @Test
  void operationsOnTablesAreCountedBySideOperationAndTable() throws IOException {
    var base = new MetricsAddress("127.0.0.1", freePort());
    try (LocalJob job = LocalJob.over("inproc", 1)) {
      String text =
          job.run(
                  weft -> {
                    try (RankMetrics metrics = RankMetrics.open(weft, new GoodputMeter(1), base)) {
                      ChannelEvents events = weft.channel().events();
                      events.ended(
                          new TableRequest(Service.KV_SERVER, 1, "push wide x", "wide x", 3, 24),
                          null);
                      events.ended(
                          new TableRequest(Service.KV_SERVER, 2, "push wide x", "wide x", 2, 16),
                          null);
                      events.ended(
                          new TableRequest(Service.KV_SERVER, 3, "push wide x", "wide x", 2, 16),
                          new CommException.Mismatch("refused"));
                      events.ended(
                          new TableRequest(Service.KV_SERVER, 4, "takeover of shard 3", "", 0, 0),
                          null);
                      events.ended(
                          new TableRequest(Service.KV_WORKER, 5, "pull deep", "deep", 7, 56), null);
                      return read(metrics.address());
                    }
                  })
              .getFirst();
      String push = "{operation=\"push\",side=\"server\",table=\"wide x\"";
      assertThat(text.lines().map(RankMetricsTest::ordered))
          .contains(
              "weft_table_requests_total{end=\"done\"," + push.substring(1) + "} 2.0",
              "weft_table_requests_total{end=\"failed\"," + push.substring(1) + "} 1.0",
              "weft_table_rows_total" + push + "} 7.0",
              "weft_table_bytes_total" + push + "} 56.0",
              "weft_table_requests_total{end=\"done\",operation=\"takeover\",side=\"server\","
                  + "table=\"\"} 1.0",
              "weft_table_rows_total{operation=\"pull\",side=\"worker\",table=\"deep\"} 7.0");
      assertThat(text).contains("weft_table_seconds_total");
    }
  }

  /// Returns a line of the metrics with its labels in alphabetical order.
  private static String ordered(String line) {
    int open = line.indexOf('{');
    int close = line.lastIndexOf('}');
    if (open < 0 || line.startsWith("#")) {
      return line;
    }
    String[] labels = line.substring(open + 1, close).split(",");
    Arrays.sort(labels);
    return line.substring(0, open + 1) + String.join(",", labels) + line.substring(close);
  }

  @Test
  void addressesThatThisHostLacksAreNamed() {
    // 192.0.2.0/24 is reserved for documentation, so no host has it. `.invalid` is never resolved.
    for (String host : new String[] {"192.0.2.1", "nowhere.invalid"}) {
      var base = new MetricsAddress(host, 9400);
      try (LocalJob job = LocalJob.over("inproc", 1)) {
        assertThatThrownBy(
                () -> RankMetrics.open(job.ranks().getFirst(), new GoodputMeter(1), base).close())
            .isInstanceOf(CommException.Setup.class)
            .hasMessageStartingWith("rank 0 cannot serve metrics at " + host + ":9400 (")
            .hasMessageContaining("give another --metrics HOST:PORT");
      }
    }
  }

  @Test
  void localRankWithoutPortIsNamed() {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      var base = new MetricsAddress("127.0.0.1", 65535);
      assertThatThrownBy(
              () -> RankMetrics.open(job.ranks().get(1), new GoodputMeter(2), base).close())
          .isInstanceOf(CommException.Setup.class)
          .hasMessage("option metrics: local rank 1 has no port above 65535; give a lower one");
    }
  }

  @Test
  void aPortInUseIsNamed() throws IOException {
    try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
        LocalJob job = LocalJob.over("inproc", 1)) {
      var base = new MetricsAddress("127.0.0.1", taken.getLocalPort());
      assertThatThrownBy(
              () -> RankMetrics.open(job.ranks().getFirst(), new GoodputMeter(1), base).close())
          .isInstanceOf(CommException.Setup.class)
          .hasMessageStartingWith("rank 0 cannot serve metrics at " + base)
          .hasMessageContaining("give another --metrics HOST:PORT");
    }
  }
}
