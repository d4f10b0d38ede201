// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.metrics;

import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.core.metrics.GaugeWithCallback;
import io.prometheus.metrics.expositionformats.ExpositionFormatWriter;
import io.prometheus.metrics.expositionformats.ExpositionFormats;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.Unit;
import io.weft.Weft;
import io.weft.comm.CommException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The metrics of one rank, served in Prometheus' text format from `open` to `close`. They are read
/// at each request. If the setting `metrics` has an address, `Weft.init` opens them and
/// `Weft.close` closes them, without action of the program. Owned. Any thread.
public final class RankMetrics implements AutoCloseable {

  private static final ExpositionFormats FORMATS = ExpositionFormats.init();

  private final Weft weft;
  private final PrometheusRegistry registry = new PrometheusRegistry();
  private final OperationCounts operations = new OperationCounts();
  private final TableMetrics tables = new TableMetrics(registry);
  private final MetricsAddress address;
  private final MetricsServer server;
  private final AtomicReference<@Nullable GoodputMeter> goodput = new AtomicReference<>();
  private final AtomicBoolean closed = new AtomicBoolean();

  private RankMetrics(Weft weft, MetricsAddress address) throws IOException {
    this.weft = weft;
    this.address = address;
    register(registry, weft, operations);
    this.server = MetricsServer.listen(address, MetricsServer.LIMIT, this::answer);
  }

  /// Serves the metrics at the port of this local rank, including the use of time that the program
  /// measures. If `Weft.init` has opened the metrics of this address, this returns them; closing
  /// them ends the service. Throws `CommException.Setup` if the port is taken or the host is not an
  /// address of this machine.
  public static RankMetrics open(Weft weft, GoodputMeter goodput, MetricsAddress base) {
    Objects.requireNonNull(goodput, "goodput");
    MetricsAddress own = own(weft, base);
    RankMetrics metrics =
        MetricsInstrument.begun(weft)
            .filter(each -> !each.closed.get() && each.address.equals(own))
            .orElseGet(() -> begin(weft, base));
    metrics.add(goodput);
    return metrics;
  }

  static RankMetrics begin(Weft weft, MetricsAddress base) {
    MetricsAddress own = own(weft, base);
    try {
      var metrics = new RankMetrics(weft, own);
      weft.observe(metrics.operations);
      weft.observe(metrics.tables);
      return metrics;
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
  }

  /// Sets the meter; the last one is served.
  private void add(GoodputMeter meter) {
    if (goodput.getAndSet(meter) == null) {
      register(registry, () -> Objects.requireNonNull(goodput.get(), "set before"));
    }
  }

  /// Answers a request, on the server's thread.
  private MetricsResponse answer(MetricsRequest request) {
    boolean head = request.method().equals("HEAD");
    if (!head && !request.method().equals("GET")) {
      return MetricsResponse.text(405, "only GET and HEAD are answered\n");
    }
    if (!request.path().equals("/metrics")) {
      int status = request.path().equals("/") ? 200 : 404;
      return MetricsResponse.text(status, "metrics are at /metrics\n");
    }
    var body = new ByteArrayOutputStream();
    ExpositionFormatWriter format = FORMATS.findWriter(request.accept());
    try {
      format.write(body, registry.scrape());
    } catch (IOException | RuntimeException defect) {
      return MetricsResponse.text(500, "the metrics cannot be read: " + defect + "\n");
    }
    return new MetricsResponse(200, format.getContentType(), body.toByteArray(), !head);
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

  private static void register(PrometheusRegistry registry, Supplier<GoodputMeter> meter) {
    CounterWithCallback.builder()
        .name("weft_steps")
        .help("Steps of training that this rank has taken")
        .callback(to -> to.call((double) meter.get().steps()))
        .register(registry);
    CounterWithCallback.builder()
        .name("weft_time_seconds")
        .help("Time of this rank by use")
        .unit(Unit.SECONDS)
        .labelNames("use")
        .callback(
            to -> {
              for (TimeUse use : TimeUse.values()) {
                to.call(meter.get().nanos(use) / 1e9, use.label());
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
              GoodputMeter goodput = meter.get();
              for (int rank = 0; rank < goodput.ranks(); rank++) {
                to.call(goodput.waitingNanos(rank) / 1e9, "" + rank);
              }
            })
        .register(registry);
  }

  /// Returns the address of the metrics.
  public MetricsAddress address() {
    return address;
  }

  /// Stops serving. A second call has no effect.
  @Override
  public void close() {
    if (!closed.getAndSet(true)) {
      weft.unobserve(operations);
      weft.unobserve(tables);
      server.close();
    }
  }
}
