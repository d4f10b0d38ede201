// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.metrics;

import io.prometheus.metrics.core.metrics.CounterWithCallback;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.prometheus.metrics.model.snapshots.Unit;
import io.weft.comm.CommException;
import io.weft.observer.ObservedOperation;
import io.weft.observer.ObservedOperation.Service;
import io.weft.observer.OperationObserver;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.ToDoubleFunction;
import org.jspecify.annotations.Nullable;

/// The counts of a rank's operations as a worker and as a server of tables, by operation and table.
/// Thread-safe.
final class TableMetrics implements OperationObserver {

  private final Map<String, Counts> worker = new ConcurrentHashMap<>();
  private final Map<String, Counts> server = new ConcurrentHashMap<>();

  private record Counts(
      String operation,
      String table,
      LongAdder done,
      LongAdder failed,
      LongAdder bytes,
      LongAdder rows,
      LongAdder nanos) {

    Counts(String operation, String table) {
      this(
          operation,
          table,
          new LongAdder(),
          new LongAdder(),
          new LongAdder(),
          new LongAdder(),
          new LongAdder());
    }
  }

  /// Adds the metrics to a registry.
  TableMetrics(PrometheusRegistry registry) {
    CounterWithCallback.builder()
        .name("weft_table_requests")
        .help("Operations on tables that have ended, on workers and on servers")
        .labelNames("side", "operation", "table", "end")
        .callback(
            to -> {
              report(counts -> counts.done().sum(), to, "done");
              report(counts -> counts.failed().sum(), to, "failed");
            })
        .register(registry);
    CounterWithCallback.builder()
        .name("weft_table_rows")
        .help("Rows that these operations pushed or pulled")
        .labelNames("side", "operation", "table")
        .callback(to -> report(counts -> counts.rows().sum(), to))
        .register(registry);
    CounterWithCallback.builder()
        .name("weft_table_bytes")
        .help("Values of these operations; on servers, with the keys in their requests")
        .unit(Unit.BYTES)
        .labelNames("side", "operation", "table")
        .callback(to -> report(counts -> counts.bytes().sum(), to))
        .register(registry);
    CounterWithCallback.builder()
        .name("weft_table_seconds")
        .help("Time of these operations from submission or arrival to end, added")
        .unit(Unit.SECONDS)
        .labelNames("side", "operation", "table")
        .callback(to -> report(counts -> counts.nanos().sum() / 1e9, to))
        .register(registry);
  }

  private void report(
      ToDoubleFunction<Counts> value, CounterWithCallback.Callback to, String... more) {
    report("worker", worker, value, to, more);
    report("server", server, value, to, more);
  }

  private static void report(
      String side,
      Map<String, Counts> all,
      ToDoubleFunction<Counts> value,
      CounterWithCallback.Callback to,
      String... more) {
    for (Counts each : all.values()) {
      String[] labels = new String[3 + more.length];
      labels[0] = side;
      labels[1] = each.operation();
      labels[2] = each.table();
      System.arraycopy(more, 0, labels, 3, more.length);
      to.call(value.applyAsDouble(each), labels);
    }
  }

  @Override
  public boolean hearsStages() {
    return false;
  }

  /// Hot path.
  @Override
  public void ended(ObservedOperation operation, @Nullable CommException failure, long at) {
    if (operation.service() != Service.KV_WORKER && operation.service() != Service.KV_SERVER) {
      return;
    }
    Counts counts = counts(operation);
    (failure == null ? counts.done() : counts.failed()).increment();
    counts.bytes().add(operation.bytes());
    counts.rows().add(operation.rows());
    counts.nanos().add(at - operation.submittedNanos());
  }

  private Counts counts(ObservedOperation operation) {
    Map<String, Counts> all = operation.service() == Service.KV_WORKER ? worker : server;
    String table = operation.table();
    // The changes of all shards, such as "takeover of shard 3", count as one.
    String key = table.isEmpty() ? firstWord(operation.name()) : operation.name();
    Counts known = all.get(key);
    return known != null
        ? known
        : all.computeIfAbsent(key, name -> new Counts(firstWord(name), table));
  }

  private static String firstWord(String name) {
    int space = name.indexOf(' ');
    return space < 0 ? name : name.substring(0, space);
  }
}
