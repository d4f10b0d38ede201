// SPDX-License-Identifier: Apache-2.0
package io.weft.config;

import java.util.Collection;
import java.util.List;
import java.util.Map;

/// The settings of one part of Weft, declared where they are read. Found by `ServiceLoader`: each
/// jar with such a provider of Weft's has the same provider file, as for transports, and a class
/// that is named there and absent is a part whose jar is not there. Stateless; any thread.
public interface OptionProvider {

  /// In the order of the documentation.
  List<ConfigOption<?>> options();

  /// Other variables of the environment that the part reads, beginning with `WEFT_`: they are no
  /// settings, but known.
  default List<String> variables() {
    return List.of();
  }

  /// Variables of other systems that have no counterpart here, each with the reason, so that who
  /// sets them hears of it.
  default Map<String, String> ignoredVariables() {
    return Map.of();
  }

  /// Throws `IllegalArgumentException` with what to change where values of different options do not
  /// go together.
  default void check(Settings settings) {}

  /// The options of all parts that are there, part by part.
  static List<ConfigOption<?>> all() {
    return DeclaredOptions.THESE.options();
  }

  /// The variables that some part reads, those of options among them.
  static Collection<String> allVariables() {
    return DeclaredOptions.THESE.variables();
  }

  /// The variables of other systems that some part knows and has no counterpart of, with reasons.
  static Map<String, String> allIgnoredVariables() {
    return DeclaredOptions.THESE.ignored();
  }

  /// Lets each part check its own; throws as `check` does.
  static void checkAll(Settings settings) {
    DeclaredOptions.THESE.check(settings);
  }
}
