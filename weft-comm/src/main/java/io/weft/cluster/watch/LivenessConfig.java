// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.watch;

import io.weft.config.ConfigOption;
import io.weft.config.ConfigOption.Scope;
import io.weft.config.OptionProvider;
import io.weft.config.OptionType;
import io.weft.config.Settings;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.List;

/// The settings of the liveness checks between ranks. Stateless; any thread.
public final class LivenessConfig implements OptionProvider {

  /// Longest interval in which a rank sends nothing to a peer. Zero means that ranks send no
  /// heartbeats and that silence never counts as a loss.
  public static final ConfigOption<Duration> HEARTBEAT =
      ConfigOption.of(
              "heartbeat",
              OptionType.durationOrZero(20),
              "1s",
              "interval at which an idle rank sends a sign of life; 0 = never, and silence never"
                  + " counts as a loss")
          .sameOn(Scope.JOB);

  /// Longest silence of a rank before it counts as lost; zero = unlimited.
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

  /// Checks that the limit covers two heartbeats, because one may be late or queued behind longer
  /// data.
  @Override
  public void check(Settings settings) {
    Duration heartbeat = settings.required(HEARTBEAT);
    Duration limit = settings.required(SILENCE_LIMIT);
    if (!limit.isZero() && limit.compareTo(heartbeat.multipliedBy(2)) < 0) {
      throw new IllegalArgumentException(
          "option silence-limit: "
              + ClampedDuration.millis(limit)
              + " ms is less than two heartbeats of "
              + ClampedDuration.millis(heartbeat)
              + " ms (option heartbeat); raise the one or lower the other");
    }
  }
}
