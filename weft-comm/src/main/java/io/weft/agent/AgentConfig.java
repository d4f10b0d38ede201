// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

import io.weft.config.ConfigOption;
import io.weft.config.OptionProvider;
import io.weft.config.OptionType;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;

/// The settings of agent runners. Stateless; any thread.
public final class AgentConfig implements OptionProvider {

  /// The number of polls of an idle thread before it yields.
  public static final ConfigOption<OptionalInt> SPIN =
      ConfigOption.of(
          "spin",
          OptionType.autoOrCount(),
          "auto",
          "polls before an idle thread yields: auto, or a count (0 = never spin)");

  /// The time that a caller spins in a wait for its own operation, before it yields.
  public static final ConfigOption<Duration> CALLER_SPIN =
      ConfigOption.of(
          "caller-spin",
          OptionType.duration(),
          "5ms",
          "time that a caller spins in a wait for its operation before it yields, where each rank"
              + " of a host has a processor and spin is auto");

  /// For `ServiceLoader`.
  public AgentConfig() {}

  @Override
  public List<ConfigOption<?>> options() {
    return List.of(SPIN, CALLER_SPIN);
  }
}
