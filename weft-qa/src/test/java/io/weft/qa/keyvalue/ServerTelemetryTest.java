// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.keyvalue;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.kv.KvNode;
import io.weft.kv.KvOptions;
import io.weft.kv.KvTable;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.TableSpec;
import io.weft.telemetry.flight.FlightInstrument;
import io.weft.telemetry.flight.FlightLog;
import io.weft.telemetry.timeline.EventKind;
import io.weft.telemetry.timeline.TimelineEvent;
import io.weft.telemetry.timeline.TimelineFile;
import io.weft.telemetry.timeline.TimelineReader;
import io.weft.testkit.job.LocalJob;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// Checks that a parameter server's operations are in timelines, flight logs and metrics by name.
@Timeout(120)
class ServerTelemetryTest {

  private static final TableSpec WIDE = TableSpec.rows("wide", 2).with(Consistency.asynchronous());

  private static Set<String> completed(Path traces, int rank) throws IOException {
    Set<String> names = new HashSet<>();
    try (InputStream in = TimelineFile.open(TimelineFile.of(traces, rank))) {
      TimelineReader reader = TimelineReader.open(in);
      for (TimelineEvent event = reader.next(); event != null; event = reader.next()) {
        if (event.kind() == EventKind.DONE) {
          names.add(event.name());
        }
      }
    }
    return names;
  }

  private static void pushAndPull(KvTable table) throws InterruptedException {
    table.push(new long[] {1, 2, 3}, new float[6]).await();
    table.pull(new long[] {1, 2, 3}, new float[6]).await();
  }

  @Test
  void timelinesAndFlightLogsNamePushesPullsAndTheTakeover(@TempDir Path traces) throws Exception {
    WeftConfig config =
        WeftConfig.load(
            Map.of("WEFT_TIMELINE", traces.toString(), "WEFT_KV_SHARDS", "3"), new Properties());
    var options = KvOptions.servers(3).withMirrors();
    try (LocalJob job = LocalJob.start(4, config)) {
      List<KvNode> members = job.ranks().stream().map(weft -> KvNode.open(weft, options)).toList();
      KvTable table = members.get(3).worker().register(WIDE);
      pushAndPull(table);
      job.ranks().getFirst().close();
      pushAndPull(table);
      for (int rank : List.of(1, 3)) {
        assertThat(FlightInstrument.log(job.ranks().get(rank)).operations())
            .extracting(FlightLog.Flight::name)
            .contains("push wide", "pull wide");
      }
      members.forEach(KvNode::close);
    }
    assertThat(completed(traces, 3)).contains("register wide", "push wide", "pull wide");
    assertThat(completed(traces, 1))
        .contains("push wide", "pull wide")
        .anyMatch(name -> name.startsWith("takeover of shard "));
  }

  @Test
  void metricsOfAServerCountRequestsRowsAndBytesByTable() throws Exception {
    int port;
    try (var free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    WeftConfig config =
        WeftConfig.load(Map.of("WEFT_METRICS", "127.0.0.1:" + port), new Properties());
    try (LocalJob job = LocalJob.start(1, config)) {
      Weft weft = job.ranks().getFirst();
      try (KvNode both = KvNode.open(weft, KvOptions.everyRank())) {
        KvTable table = both.worker().register(WIDE);
        pushAndPull(table);
        pushAndPull(table);
        String text;
        try (InputStream in =
            URI.create("http://127.0.0.1:" + port + "/metrics").toURL().openStream()) {
          text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
        assertThat(text.lines())
            .anySatisfy(
                line ->
                    assertThat(line)
                        .startsWith("weft_table_requests_total")
                        .endsWith(" 2.0")
                        .contains(
                            "side=\"worker\"",
                            "operation=\"push\"",
                            "table=\"wide\"",
                            "end=\"done\""))
            .anySatisfy(
                line ->
                    assertThat(line)
                        .startsWith("weft_table_rows_total")
                        .endsWith(" 6.0")
                        .contains("side=\"server\"", "operation=\"push\"", "table=\"wide\""))
            .anySatisfy(
                line ->
                    assertThat(line)
                        .startsWith("weft_table_rows_total")
                        .endsWith(" 6.0")
                        .contains("side=\"server\"", "operation=\"pull\"", "table=\"wide\""))
            .anySatisfy(
                line ->
                    assertThat(line)
                        .startsWith("weft_table_bytes_total")
                        .contains("side=\"server\"", "operation=\"pull\"", "table=\"wide\""));
      }
    }
  }
}
