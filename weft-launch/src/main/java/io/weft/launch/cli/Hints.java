// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.cli;

import io.weft.ConfigOption;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/// What else to say of a wrong command line: the option or command that was probably meant.
final class Hints {

  private Hints() {}

  /// No line or one.
  static List<String> after(ParameterException wrong) {
    if (!(wrong instanceof UnmatchedArgumentException unmatched)
        || unmatched.getUnmatched().isEmpty()) {
      return List.of();
    }
    CommandSpec command = unmatched.getCommandLine().getCommandSpec();
    String word = unmatched.getUnmatched().getFirst().replaceFirst("=.*", "");
    List<String> known =
        word.startsWith("-")
            ? List.copyOf(command.optionsMap().keySet())
            : List.copyOf(command.subcommands().keySet());
    String before = word.startsWith("-") ? "" : command.qualifiedName() + " ";
    Optional<String> near = ConfigOption.nearest(word, known);
    return near.map(name -> "Did you mean: " + before + name + "?").stream().toList();
  }
}
