// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.flight;

import io.weft.config.ConfigOption;
import io.weft.config.OptionProvider;
import io.weft.config.OptionType;
import java.nio.file.Path;
import java.util.List;

/// The settings of the flight recorder. Stateless; any thread.
public final class FlightConfig implements OptionProvider {

  /// Directory in which this rank leaves a file with its last operations after a failure; empty =
  /// none.
  public static final ConfigOption<Path> DIRECTORY =
      ConfigOption.withoutDefault(
          "flight-dir",
          OptionType.path(),
          "directory in which each rank leaves a file with its last operations after a failure");

  /// For `ServiceLoader`.
  public FlightConfig() {}

  @Override
  public List<ConfigOption<?>> options() {
    return List.of(DIRECTORY);
  }
}
