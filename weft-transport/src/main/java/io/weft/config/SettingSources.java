// SPDX-License-Identifier: Apache-2.0
package io.weft.config;

import java.util.Map;
import java.util.Optional;
import java.util.Properties;

/// Immutable settings with precedence from high to low: system properties, environment, file,
/// variables of other systems, default.
///
/// @param environment variables
/// @param system properties
/// @param file the properties read from a file
/// @param fileName its name, for messages
public record SettingSources(
    Map<String, String> environment, Properties system, Properties file, String fileName)
    implements Settings {

  /// Copies the environment and keeps references to the properties.
  public SettingSources {
    environment = Map.copyOf(environment);
  }

  @Override
  public <T> Optional<T> value(ConfigOption<T> option) {
    String text = system.getProperty(option.property());
    if (text != null) {
      return Optional.of(option.parse(text, "system property " + option.property()));
    }
    text = environment.get(option.variable());
    if (text != null) {
      return Optional.of(option.parse(text, "environment variable " + option.variable()));
    }
    text = file.getProperty(option.property());
    if (text != null) {
      return Optional.of(option.parse(text, "file " + fileName + ", key " + option.property()));
    }
    Optional<ForeignVariable> foreign = option.foreign();
    Optional<String> translated = foreign.flatMap(variable -> variable.in(environment));
    if (translated.isPresent()) {
      String origin = "environment variable " + foreign.orElseThrow().name();
      return Optional.of(option.parse(translated.get(), origin));
    }
    return option.defaultText().map(given -> option.parse(given, "default"));
  }
}
