// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.watch;

import io.weft.config.ConfigOption;
import io.weft.config.ConfigOption.Scope;
import io.weft.config.OptionProvider;
import io.weft.config.OptionType;
import io.weft.config.Settings;
import io.weft.transport.limit.Span;
import java.time.Duration;
import java.util.List;

/// The settings by which ranks know that others live. Stateless; any thread.
public final class LivenessConfig implements OptionProvider {

  /// Longest time in which a rank sends a peer nothing; zero = it need not show that it lives, and
  /// nobody is given up for silence.
  public static final ConfigOption<Duration> HEARTBEAT =
      ConfigOption.of(
              "heartbeat",
              OptionType.durationOrZero(20),
              "1s",
              "a rank that has nothing to send shows this often that it lives; 0 = never, and"
                  + " nobody is given up for silence")
          .sameOn(Scope.JOB);

  /// How long a rank may be silent before it counts as lost; zero = for ever.
  public static final ConfigOption<Duration> SILENCE_LIMIT =
      ConfigOption.of(
              "silence-limit",
              OptionType.durationOrZero(40),
              "5s",
              "a rank that is silent for longer counts as lost; at least two heartbeats, 0 = never")
          .sameOn(Scope.JOB);

  /// For `ServiceLoader`.
  public LivenessConfig() {}

  @Override
  public List<ConfigOption<?>> options() {
    return List.of(HEARTBEAT, SILENCE_LIMIT);
  }

  /// One heartbeat may be late or wait behind something longer.
  @Override
  public void check(Settings settings) {
    Duration heartbeat = settings.required(HEARTBEAT);
    Duration limit = settings.required(SILENCE_LIMIT);
    if (!limit.isZero() && limit.compareTo(heartbeat.multipliedBy(2)) < 0) {
      throw new IllegalArgumentException(
          "option silence-limit: "
              + Span.millis(limit)
              + " ms is less than two heartbeats of "
              + Span.millis(heartbeat)
              + " ms (option heartbeat); raise the one or lower the other");
    }
  }
}
