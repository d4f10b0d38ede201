// SPDX-License-Identifier: Apache-2.0
package io.weft.config;

import java.util.Map;
import java.util.Optional;
import java.util.Properties;

/// The values of options, independent of their sources. Immutable and thread-safe.
public interface Settings {

  /// Returns the value of an option, or its default; empty if the default depends on the job.
  /// Throws `IllegalArgumentException` as `ConfigOption.parse` does.
  <T> Optional<T> value(ConfigOption<T> option);

  /// Returns the value of an option that has a default. Throws `IllegalArgumentException` as
  /// `value` does.
  default <T> T required(ConfigOption<T> option) {
    return value(option)
        .orElseThrow(() -> new IllegalArgumentException("option " + option + " has no value"));
  }

  /// Returns these settings with another value for one option.
  default <V> Settings with(ConfigOption<V> option, V value) {
    return new OverriddenSettings(this, option, value);
  }

  /// Returns the defaults.
  static Settings defaults() {
    return new SettingSources(Map.of(), new Properties(), new Properties(), "none");
  }

  /// Returns the settings of system properties and, with lower precedence, of the environment.
  static Settings of(Map<String, String> environment, Properties system) {
    return new SettingSources(environment, system, new Properties(), "none");
  }

  /// Returns the settings of this process.
  static Settings ofThisProcess() {
    return of(System.getenv(), System.getProperties());
  }
}
