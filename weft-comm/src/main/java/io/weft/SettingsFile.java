// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.comm.CommException;
import io.weft.config.ConfigOption;
import io.weft.config.ForeignVariable;
import io.weft.config.OptionProvider;
import io.weft.config.SettingSources;
import io.weft.config.Settings;
import io.weft.file.ForeignFile;
import io.weft.transport.limit.IoErrors;
import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The settings file, and the checks of the environment variables. An unknown key or variable is
/// reported together with the most similar known name. Stateless.
final class SettingsFile {

  private static final Logger LOG = LoggerFactory.getLogger(Weft.class);
  private static final String FILE_PROPERTY = "weft.config.file";
  private static final String FILE_VARIABLE = "WEFT_CONFIG_FILE";
  private static final String PREFIX = "WEFT_";

  /// Prefix of the variables of tests, which are not settings.
  private static final String TEST_PREFIX = "WEFT_TEST_";

  private static final int MOST_BYTES = 1 << 20;

  private SettingsFile() {}

  /// Returns the settings from system properties, environment and settings file. Throws
  /// `CommException.Setup` if the file cannot be read or has an unknown key.
  static Settings sources(Map<String, String> environment, Properties system) {
    String named = system.getProperty(FILE_PROPERTY, environment.get(FILE_VARIABLE));
    if (named == null || named.isBlank()) {
      return Settings.of(environment, system);
    }
    return new SettingSources(environment, system, read(Path.of(named)), named);
  }

  /// Logs the environment variables that change no setting, and the variables of other systems that
  /// set one.
  static void warnOfVariables(Map<String, String> environment, Settings settings) {
    foreignVariables(environment, settings).forEach(LOG::warn);
    String unknown = unknownVariables(environment);
    if (!unknown.isEmpty()) {
      LOG.warn(
          "variables that no part of Weft here reads, so that they change nothing: {}", unknown);
    }
  }

  /// Lists the variables with Weft's prefix that no option reads, except those of tests. Empty if
  /// there are none.
  static String unknownVariables(Map<String, String> environment) {
    List<String> known = List.copyOf(OptionProvider.allVariables());
    return environment.keySet().stream()
        .filter(name -> name.startsWith(PREFIX))
        .filter(name -> !name.startsWith(TEST_PREFIX) && !known.contains(name))
        .sorted()
        .map(name -> name + meant(name, known))
        .collect(Collectors.joining(", "));
  }

  /// Returns a line for each variable of another system that is set: the option that it sets, or
  /// the reason why it sets none.
  static List<String> foreignVariables(Map<String, String> environment, Settings settings) {
    List<String> lines = new ArrayList<>();
    for (ConfigOption<?> option : OptionProvider.all()) {
      option
          .foreign()
          .filter(variable -> variable.in(environment).isPresent())
          .map(ForeignVariable::name)
          .ifPresent(name -> lines.add(understood(name, environment, option, settings)));
    }
    OptionProvider.allIgnoredVariables()
        .forEach(
            (name, why) -> {
              if (environment.containsKey(name)) {
                lines.add(name + " changes nothing: " + why);
              }
            });
    return lines;
  }

  private static String understood(
      String name, Map<String, String> environment, ConfigOption<?> option, Settings settings) {
    return "%s=%s is understood as %s, which is %s"
        .formatted(
            name,
            environment.get(name),
            option.flag(),
            settings.value(option).map(Object::toString).orElse("auto"));
  }

  private static String meant(String mistyped, List<String> known) {
    return ConfigOption.nearest(mistyped, known)
        .map(name -> " (did you mean " + name + "?)")
        .orElse("");
  }

  private static @Nullable String reason(Exception unreadable) {
    return unreadable instanceof IOException file ? IoErrors.reason(file) : unreadable.getMessage();
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
    List<String> known = OptionProvider.all().stream().map(ConfigOption::property).toList();
    for (String key : properties.stringPropertyNames()) {
      if (!known.contains(key)) {
        throw new CommException.Setup(
            "the settings file "
                + path
                + " has the unknown key '"
                + key
                + "'"
                + meant(key, known)
                + "; known are "
                + String.join(", ", known),
            null);
      }
    }
    return properties;
  }
}
