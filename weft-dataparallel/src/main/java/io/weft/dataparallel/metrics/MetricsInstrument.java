// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.metrics;

import io.weft.InstrumentProvider;
import io.weft.Weft;
import io.weft.agent.Ticker;
import java.util.Objects;
import java.util.Optional;

/// Serves the metrics of each rank whose settings have an address. Stateless; any thread.
public final class MetricsInstrument implements InstrumentProvider {

  /// The metrics that are closed with the rank.
  private record Begun(Optional<RankMetrics> metrics) implements AutoCloseable {

    @Override
    public void close() {
      metrics.ifPresent(RankMetrics::close);
    }
  }

  /// Creates the provider for `ServiceLoader`.
  public MetricsInstrument() {}

  /// Returns the metrics that `Weft.init` has opened; they may be closed.
  static Optional<RankMetrics> begun(Weft weft) {
    return weft.attached(Begun.class, rank -> new Begun(Optional.empty())).metrics();
  }

  @Override
  public void open(Weft weft, Ticker clock) {
    Objects.requireNonNull(clock, "clock");
    weft.config()
        .value(MetricsConfig.ADDRESS)
        .ifPresent(
            address -> {
              RankMetrics metrics = RankMetrics.begin(weft, address);
              var unused = weft.attached(Begun.class, rank -> new Begun(Optional.of(metrics)));
            });
  }
}
