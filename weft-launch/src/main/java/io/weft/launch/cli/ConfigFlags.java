// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import io.weft.WeftConfig;
import io.weft.cluster.JobConfig;
import io.weft.cluster.LaunchEnvironment;
import io.weft.collective.Algorithms;
import io.weft.comm.CommException;
import io.weft.config.ConfigOption;
import io.weft.config.OptionProvider;
import io.weft.transport.spi.TransportProvider;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/// The flags of all settings of `WeftConfig`, each with the setting's name.
final class ConfigFlags {

  private static final String ORIGIN = "the command line";

  private ConfigFlags() {}

  /// Adds the flags to a command, except the named ones.
  static void add(@Nullable CommandLine command, List<String> without) {
    if (command == null) {
      return;
    }
    for (ConfigOption<?> option : OptionProvider.all()) {
      if (!without.contains(option.name())) {
        String otherwise = option.defaultText().map(text -> " (default: " + text + ")").orElse("");
        var flag =
            OptionSpec.builder(option.flag())
                .type(String.class)
                .paramLabel(option.type().unit())
                .description(option.help() + otherwise);
        if (option.equals(JobConfig.SECURE)) {
          flag.arity("0..1").preprocessor(new SecureAlone());
        }
        command.getCommandSpec().addOption(flag.build());
      }
    }
  }

  /// Returns the help text of the flags, except the named ones.
  static String help(List<String> without, int width) {
    var flags = new CommandLine(CommandSpec.create().name("settings")).setUsageHelpWidth(width);
    add(flags, without);
    return flags.getHelp().optionList();
  }

  /// Returns the variables that pass the command line's settings to ranks. Throws
  /// `CommException.Setup` for an invalid value.
  static Map<String, String> variables(CommandSpec command) {
    var variables = new LinkedHashMap<String, String>();
    forEach(
        command,
        (option, text) -> {
          String absolute = option.isPath() ? Path.of(text).toAbsolutePath().toString() : text;
          variables.put(option.variable(), absolute);
        });
    return variables;
  }

  /// Returns the settings of a job that this process starts; the command line overrides the
  /// environment. Throws `CommException.Setup` for an invalid value.
  static WeftConfig config(CommandSpec command) {
    WeftConfig.Builder builder = WeftConfig.builder(LaunchEnvironment.outside(System.getenv()));
    forEach(command, builder::set);
    return builder.build();
  }

  /// Checks the settings of this host's ranks beyond their form: the transport must not be
  /// mistyped, and the rules must be readable. An unknown transport is accepted unless its name is
  /// similar to a known one, because a program may contain it. Throws `CommException.Setup` with
  /// the allowed values.
  static void checkHere(WeftConfig config) {
    String wanted = config.transport();
    List<String> known =
        Stream.concat(
                Stream.of("auto"), TransportProvider.all().stream().map(TransportProvider::scheme))
            .distinct()
            .sorted()
            .toList();
    Optional<String> meant =
        known.contains(wanted) ? Optional.empty() : ConfigOption.nearest(wanted, known);
    if (meant.isPresent()) {
      throw new CommException.Setup(
          "option transport: there is no '"
              + wanted
              + "'; did you mean "
              + meant.get()
              + "? There are "
              + String.join(", ", known),
          null);
    }
    try {
      Object unused = Algorithms.table(config.algorithms());
    } catch (IllegalArgumentException refused) {
      throw new CommException.Setup("option algorithms: " + refused.getMessage(), refused);
    }
  }

  private static void forEach(CommandSpec command, BiConsumer<ConfigOption<?>, String> action) {
    for (ConfigOption<?> option : OptionProvider.all()) {
      OptionSpec flag = command.findOption(option.flag());
      String text = flag == null ? null : flag.getValue();
      if (text != null) {
        Object unused = WeftConfig.parse(option, text, ORIGIN);
        action.accept(option, text);
      }
    }
  }
}
