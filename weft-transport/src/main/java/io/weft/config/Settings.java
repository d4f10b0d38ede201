// SPDX-License-Identifier: Apache-2.0
package io.weft.config;

import java.util.Map;
import java.util.Optional;
import java.util.Properties;

/// The values that options have, wherever they come from. Immutable; any thread.
public interface Settings {

  /// What an option is set to, else its default; empty = it depends on the job. Throws
  /// `IllegalArgumentException` as `ConfigOption.parse` does.
  <T> Optional<T> value(ConfigOption<T> option);

  /// The value of an option that has a default. Throws `IllegalArgumentException` as `value` does.
  default <T> T required(ConfigOption<T> option) {
    return value(option)
        .orElseThrow(() -> new IllegalArgumentException("option " + option + " has no value"));
  }

  /// The same but for one option.
  default <V> Settings with(ConfigOption<V> option, V value) {
    return new OverriddenSettings(this, option, value);
  }

  /// The defaults alone.
  static Settings defaults() {
    return new SettingSources(Map.of(), new Properties(), new Properties(), "none");
  }

  /// What system properties and, after them, the environment say.
  static Settings of(Map<String, String> environment, Properties system) {
    return new SettingSources(environment, system, new Properties(), "none");
  }

  /// The same of this process.
  static Settings ofThisProcess() {
    return of(System.getenv(), System.getProperties());
  }
}
