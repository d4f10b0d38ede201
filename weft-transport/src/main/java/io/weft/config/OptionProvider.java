// SPDX-License-Identifier: Apache-2.0
package io.weft.config;

import java.util.Collection;
import java.util.List;
import java.util.Map;

/// The settings of one part of Weft. `ServiceLoader` finds the providers. As for transports, all
/// jars with providers contain the same provider file, which names every provider; a named class
/// that is not on the class path belongs to a part whose jar is absent. Providers are stateless and
/// thread-safe.
public interface OptionProvider {

  /// Returns the options in the order of the documentation.
  List<ConfigOption<?>> options();

  /// Returns other `WEFT_` environment variables that the part reads; they are not settings.
  default List<String> variables() {
    return List.of();
  }

  /// Returns variables of other systems for which Weft has no counterpart, each with the reason, so
  /// that users who set them are told.
  default Map<String, String> ignoredVariables() {
    return Map.of();
  }

  /// Checks options against each other. Throws `IllegalArgumentException` with the remedy if values
  /// of different options conflict.
  default void check(Settings settings) {}

  /// Returns the options of all parts that are present, grouped by part.
  static List<ConfigOption<?>> all() {
    return DeclaredOptions.THESE.options();
  }

  /// Returns the variables that any part reads, including those of options.
  static Collection<String> allVariables() {
    return DeclaredOptions.THESE.variables();
  }

  /// Returns the ignored variables of all parts, with the reasons.
  static Map<String, String> allIgnoredVariables() {
    return DeclaredOptions.THESE.ignored();
  }

  /// Lets each part check its options; throws as `check` does.
  static void checkAll(Settings settings) {
    DeclaredOptions.THESE.check(settings);
  }
}
