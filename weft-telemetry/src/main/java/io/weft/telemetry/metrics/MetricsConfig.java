// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.metrics;

import io.weft.config.ConfigOption;
import io.weft.config.OptionProvider;
import io.weft.config.OptionType;
import java.util.List;

/// The setting of metrics. Stateless; any thread.
public final class MetricsConfig implements OptionProvider {

  /// The address at which the ranks of a host serve their metrics; empty = not served.
  public static final ConfigOption<MetricsAddress> ADDRESS =
      ConfigOption.withoutDefault(
          "metrics",
          OptionType.of(
              MetricsAddress.class, "HOST:PORT", "HOST:PORT, or PORT", MetricsAddress::parse),
          "address of the metrics of a host's ranks, in the text format of Prometheus: local rank"
              + " 0 serves at this port, the others at the next ones; PORT alone: on loopback");

  /// Creates the provider for `ServiceLoader`.
  public MetricsConfig() {}

  @Override
  public List<ConfigOption<?>> options() {
    return List.of(ADDRESS);
  }
}
