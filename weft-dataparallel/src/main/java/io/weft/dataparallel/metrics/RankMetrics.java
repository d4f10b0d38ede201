// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.metrics;

import com.sun.net.httpserver.HttpExchange;
import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.exporter.httpserver.HTTPServer;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.Unit;
import io.weft.Weft;
import io.weft.comm.CommException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/// The metrics of one rank, served in Prometheus' text format from `open` to `close`. They are read
/// when somebody asks. Owned.
public final class RankMetrics implements AutoCloseable {

  private final Weft weft;
  private final OperationCounts operations;
  private final HTTPServer server;
  private final MetricsAddress address;

  private RankMetrics(
      Weft weft, OperationCounts operations, HTTPServer server, MetricsAddress address) {
    this.weft = weft;
    this.operations = operations;
    this.server = server;
    this.address = address;
  }

  /// Serves at the port of this local rank. Throws `CommException.Setup` where it is taken or the
  /// host is none of this machine.
  public static RankMetrics open(Weft weft, GoodputMeter goodput, MetricsAddress base) {
    var operations = new OperationCounts();
    MetricsAddress own = own(weft, base);
    var registry = new PrometheusRegistry();
    register(registry, weft, operations);
    register(registry, goodput);
    HTTPServer server;
    try {
      server =
          HTTPServer.builder()
              .hostname(own.host())
              .port(own.port())
              .registry(registry)
              .defaultHandler(RankMetrics::elsewhere)
              .buildAndStart();
    } catch (IOException | RuntimeException refused) {
      throw new CommException.Setup(
          "rank "
              + weft.rank()
              + " cannot serve metrics at "
              + own
              + " ("
              + refused.getMessage()
              + "); give another --metrics HOST:PORT: local rank 0 takes this port, the others"
              + " those above",
          refused);
    }
    weft.observe(operations);
    return new RankMetrics(weft, operations, server, own);
  }

  private static void elsewhere(HttpExchange exchange) throws IOException {
    byte[] words = "metrics are at /metrics\n".getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().set("Content-Type", "text/plain; charset=utf-8");
    exchange.sendResponseHeaders(
        exchange.getRequestURI().getPath().equals("/") ? 200 : 404, words.length);
    exchange.getResponseBody().write(words);
    exchange.close();
  }

  private static MetricsAddress own(Weft weft, MetricsAddress base) {
    try {
      return base.of(weft.localRank());
    } catch (IllegalArgumentException none) {
      throw new CommException.Setup("option metrics: " + none.getMessage(), none);
    }
  }

  private static void register(PrometheusRegistry registry, Weft weft, OperationCounts operations) {
    GaugeWithCallback.builder()
        .name("weft_rank_info")
        .help("Which rank of how many this is; the value is 1")
        .labelNames("rank", "size")
        .callback(to -> to.call(1, "" + weft.rank(), "" + weft.size()))
        .register(registry);
    CounterWithCallback.builder()
        .name("weft_operations")
        .help("Operations of this rank that have ended")
        .labelNames("end")
        .callback(
            to -> {
              to.call((double) operations.done(), "done");
              to.call((double) operations.failed(), "failed");
            })
        .register(registry);
    CounterWithCallback.builder()
        .name("weft_operation_bytes")
        .help("Length of the tensors of these operations")
        .unit(Unit.BYTES)
        .callback(to -> to.call((double) operations.bytes()))
        .register(registry);
    CounterWithCallback.builder()
        .name("weft_operation_seconds")
        .help("Time of these operations from submission to end, added")
        .unit(Unit.SECONDS)
        .callback(to -> to.call(operations.seconds()))
        .register(registry);
    CounterWithCallback.builder()
        .name("weft_sent_bytes")
        .help("Payload and protocol bytes sent to other ranks")
        .unit(Unit.BYTES)
        .callback(to -> to.call((double) weft.bytesSent()))
        .register(registry);
  }

  private static void register(PrometheusRegistry registry, GoodputMeter goodput) {
    CounterWithCallback.builder()
        .name("weft_steps")
        .help("Steps of training that this rank has taken")
        .callback(to -> to.call((double) goodput.steps()))
        .register(registry);
    CounterWithCallback.builder()
        .name("weft_time_seconds")
        .help("Time of this rank by what it was used for")
        .unit(Unit.SECONDS)
        .labelNames("use")
        .callback(
            to -> {
              for (TimeUse use : TimeUse.values()) {
                to.call(goodput.nanos(use) / 1e9, use.label());
              }
            })
        .register(registry);
    CounterWithCallback.builder()
        .name("weft_waiting_seconds")
        .help("Of the time of communication, waiting for this rank, known at the end of an epoch")
        .unit(Unit.SECONDS)
        .labelNames("rank")
        .callback(
            to -> {
              for (int rank = 0; rank < goodput.ranks(); rank++) {
                to.call(goodput.waitingNanos(rank) / 1e9, "" + rank);
              }
            })
        .register(registry);
  }

  /// Where they are served.
  public MetricsAddress address() {
    return address;
  }

  @Override
  public void close() {
    weft.unobserve(operations);
    server.close();
  }
}
