// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.metrics;

import io.weft.Instrument;
import io.weft.InstrumentProvider;
import io.weft.JoiningRank;
import io.weft.Weft;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/// The metrics of a rank whose settings have an address for them. Any thread.
public final class MetricsInstrument implements Instrument {

  private volatile @Nullable RankMetrics metrics;

  private MetricsInstrument() {}

  /// Opens the metrics of each rank. Stateless; any thread.
  public static final class Provider implements InstrumentProvider {

    /// Creates the provider for `ServiceLoader`.
    public Provider() {}

    @Override
    public Instrument open(JoiningRank rank) {
      Objects.requireNonNull(rank, "rank");
      return new MetricsInstrument();
    }
  }

  /// Returns the metrics that `Weft.init` has opened; they may be closed.
  static Optional<RankMetrics> begun(Weft weft) {
    return weft.instrument(MetricsInstrument.class).map(each -> each.metrics);
  }

  @Override
  public void joined(Weft weft) {
    weft.config()
        .value(MetricsConfig.ADDRESS)
        .ifPresent(address -> metrics = RankMetrics.begin(weft, address));
  }

  @Override
  public void leaving() {
    RankMetrics begun = metrics;
    if (begun != null) {
      begun.close();
    }
  }
}
