// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import io.weft.config.ConfigOption;
import io.weft.config.ConfigOption.Scope;
import io.weft.config.ForeignVariable;
import io.weft.config.OptionProvider;
import io.weft.config.OptionType;
import java.nio.file.Path;
import java.util.List;

/// The settings of timelines. Stateless; any thread.
public final class TimelineConfig implements OptionProvider {

  /// The directory in which this rank writes its timeline; empty = none.
  public static final ConfigOption<Path> DIRECTORY =
      ConfigOption.withoutDefault(
              "timeline",
              OptionType.path(),
              "directory in which each rank writes its timeline, at its end and after a failure;"
                  + " on all ranks or on none")
          .orVariable(new ForeignVariable("HOROVOD_TIMELINE", TimelineConfig::directory))
          .sameOn(Scope.PRESENCE);

  /// The number of events that a rank keeps.
  public static final ConfigOption<Integer> EVENTS =
      ConfigOption.of(
          "timeline-events",
          OptionType.number(Timeline.FEWEST, Timeline.MOST),
          "131072",
          "number of events that a timeline keeps, the latest; 48 bytes each");

  /// Returns the directory for Horovod's value, which is a file or `DYNAMIC` (the program will
  /// start the timeline).
  private static String directory(String file) {
    return file.equals("DYNAMIC") ? "" : file.replaceFirst("\\.json$", "");
  }

  /// Creates the provider for `ServiceLoader`.
  public TimelineConfig() {}

  @Override
  public List<ConfigOption<?>> options() {
    return List.of(DIRECTORY, EVENTS);
  }
}
