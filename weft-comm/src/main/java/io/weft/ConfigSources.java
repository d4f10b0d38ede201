// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.comm.CommException;
import io.weft.file.ForeignFile;
import io.weft.transport.limit.Refusal;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/// Where settings come from, highest first: system properties, environment, file. Reads the file
/// once. Immutable.
final class ConfigSources {

  /// A text and where it was found.
  record Found(String text, String origin) {}

  private static final String FILE_PROPERTY = "weft.config.file";
  private static final String FILE_VARIABLE = "WEFT_CONFIG_FILE";

  private static final int MOST_BYTES = 1 << 20;

  private final Map<String, String> environment;
  private final Properties system;
  private final Properties file;
  private final @Nullable Path path;

  ConfigSources(Map<String, String> environment, Properties system) {
    this.environment = Map.copyOf(environment);
    this.system = system;
    String named = system.getProperty(FILE_PROPERTY, environment.get(FILE_VARIABLE));
    this.path = named == null || named.isBlank() ? null : Path.of(named);
    this.file = path == null ? new Properties() : read(path);
  }

  Optional<Found> find(ConfigOption<?> option) {
    String text = system.getProperty(option.property());
    if (text != null) {
      return Optional.of(new Found(text, "system property " + option.property()));
    }
    text = environment.get(option.variable());
    if (text != null) {
      return Optional.of(new Found(text, "environment variable " + option.variable()));
    }
    text = file.getProperty(option.property());
    return text == null
        ? Optional.empty()
        : Optional.of(new Found(text, "file " + path + ", key " + option.property()));
  }

  private static @Nullable String reason(Exception unreadable) {
    return unreadable instanceof IOException file ? Refusal.reason(file) : unreadable.getMessage();
  }

  private static Properties read(Path path) {
    var properties = new Properties();
    try {
      properties.load(new StringReader(ForeignFile.named(path).text(MOST_BYTES)));
    } catch (IOException | IllegalArgumentException unreadable) {
      throw new CommException.Setup(
          "the settings file "
              + path
              + " (named by "
              + FILE_VARIABLE
              + " or "
              + FILE_PROPERTY
              + ") cannot be read: "
              + reason(unreadable),
          unreadable);
    }
    for (String key : properties.stringPropertyNames()) {
      if (ConfigOption.all().stream().noneMatch(option -> option.property().equals(key))) {
        throw new CommException.Setup(
            "the settings file "
                + path
                + " has the unknown key '"
                + key
                + "'; known are "
                + ConfigOption.all().stream()
                    .map(ConfigOption::property)
                    .collect(Collectors.joining(", ")),
            null);
      }
    }
    return properties;
  }
}
