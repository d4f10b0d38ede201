// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.config.ConfigOption;
import io.weft.config.ConfigOption.Scope;
import io.weft.config.OptionProvider;
import io.weft.config.OptionType;
import io.weft.config.Settings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;

/// The configuration options of collectives. Stateless; any thread.
public final class CollectiveConfig implements OptionProvider {

  public static final ConfigOption<Duration> DEADLINE =
      ConfigOption.of(
          "deadline",
          OptionType.duration(),
          "60s",
          "hard limit of an operation without its own limit; when it passes, all ranks abort");

  /// The limit of the idle staging memory.
  public static final ConfigOption<Long> POOL_BYTES =
      ConfigOption.of(
          "pool-bytes",
          OptionType.bytes(1 << 20, 1L << 40),
          "512M",
          "idle registered staging memory that this rank keeps for reuse");

  /// The largest payload that is sent inside a message. If empty, the transport decides.
  public static final ConfigOption<OptionalInt> EAGER_BYTES =
      ConfigOption.of(
              "eager-bytes",
              OptionType.autoOrBytes(8, 1 << 20),
              "auto",
              "largest payload that is sent inside a message: auto (by the transport), or a size")
          .sameOn(Scope.JOB);

  /// The length of the segments in which long tensors are sent. If empty, the rule table decides.
  public static final ConfigOption<OptionalInt> SEGMENT_BYTES =
      ConfigOption.of(
              "segment-bytes",
              OptionType.autoOrBytes(1 << 12, 1 << 26),
              "auto",
              "length of the segments in which large tensors are sent between ranks: auto (by the"
                  + " table of algorithms), or a size")
          .sameOn(Scope.JOB);

  /// The file of the user's rules, which precede the shipped rules.
  public static final ConfigOption<Path> ALGORITHMS =
      ConfigOption.withoutDefault(
              "algorithms",
              OptionType.path(),
              "file with rules that select algorithms, before Weft's rules; equal on all ranks")
          .sameOn(Scope.JOB);

  /// Called by `ServiceLoader`.
  public CollectiveConfig() {}

  @Override
  public List<ConfigOption<?>> options() {
    return List.of(DEADLINE, POOL_BYTES, EAGER_BYTES, SEGMENT_BYTES, ALGORITHMS);
  }

  @Override
  public void check(Settings settings) {
    int eager = settings.required(EAGER_BYTES).orElse(Tuning.AUTO);
    int segment = settings.required(SEGMENT_BYTES).orElse(Tuning.AUTO);
    if (segment % Tuning.SEGMENT_MULTIPLE_BYTES != 0) {
      int below = segment - segment % Tuning.SEGMENT_MULTIPLE_BYTES;
      throw new IllegalArgumentException(
          "option segment-bytes: "
              + segment
              + " is not a multiple of "
              + Tuning.SEGMENT_MULTIPLE_BYTES
              + "; allowed are "
              + below
              + " or "
              + (below + Tuning.SEGMENT_MULTIPLE_BYTES));
    }
    if (segment != Tuning.AUTO && eager > segment) {
      throw new IllegalArgumentException(
          "option eager-bytes: "
              + eager
              + " is more than segment-bytes, "
              + segment
              + ": a message holds at most a segment; lower the one or raise the other");
    }
  }
}
