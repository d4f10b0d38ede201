// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/// A `weft` command whose JSON report is needed.
///
/// @param words words of the command, separated by spaces; a word that begins with `DIR/` is a path
///   in a temporary directory, which all commands of a reproduction share
/// @param settings additional environment variables
record WeftRun(String words, Map<String, String> settings) {

  /// The word for the temporary directory.
  static final String DIRECTORY = "DIR/";

  WeftRun {
    settings = Map.copyOf(settings);
  }

  /// Returns a command without additional settings.
  static WeftRun of(String words) {
    return new WeftRun(words, Map.of());
  }

  /// Returns this command with an environment variable.
  WeftRun with(String variable, String value) {
    Map<String, String> more = new TreeMap<>(settings);
    more.put(variable, value);
    return new WeftRun(words, more);
  }

  /// Returns the words with a directory in place of `DIR`.
  List<String> arguments(String directory) {
    return List.of(words.split(" ")).stream()
        .map(
            word ->
                word.startsWith(DIRECTORY)
                    ? directory + "/" + word.substring(DIRECTORY.length())
                    : word)
        .toList();
  }

  /// Returns the command as a user would type it.
  String text() {
    return new TreeMap<>(settings)
            .entrySet().stream()
                .map(each -> each.getKey() + "=" + each.getValue() + " ")
                .collect(Collectors.joining())
        + "./weft "
        + words;
  }
}
