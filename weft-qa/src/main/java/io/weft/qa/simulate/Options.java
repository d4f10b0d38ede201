// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.simulate;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/// The parser of `--name value` pairs. Throws `IllegalArgumentException` for other arguments.
final class Options {

  private final Map<String, String> values = new HashMap<>();

  /// @param names the allowed names
  Options(List<String> arguments, String... names) {
    for (int i = 0; i < arguments.size(); i += 2) {
      String name = arguments.get(i);
      if (!name.startsWith("--") || !Set.of(names).contains(name.substring(2))) {
        throw new IllegalArgumentException(
            "unknown option '" + name + "'; allowed: --" + String.join(", --", names));
      }
      if (i + 1 == arguments.size()) {
        throw new IllegalArgumentException(name + " needs a value");
      }
      values.put(name.substring(2), arguments.get(i + 1));
    }
  }

  long number(String name, long otherwise) {
    String value = values.get(name);
    try {
      return value == null ? otherwise : Long.parseLong(value);
    } catch (NumberFormatException none) {
      throw new IllegalArgumentException(
          "--" + name + " must be a number, not '" + value + "'", none);
    }
  }

  int count(String name, int otherwise) {
    long number = number(name, otherwise);
    if (number < 1 || number > Integer.MAX_VALUE) {
      throw new IllegalArgumentException("--" + name + " must be at least 1, not " + number);
    }
    return (int) number;
  }

  /// Returns the numbers of a comma-separated list.
  List<Integer> counts(String name, String otherwise) {
    String list = text(name, otherwise);
    try {
      return List.of(list.split(",", -1)).stream().map(Integer::valueOf).toList();
    } catch (NumberFormatException none) {
      throw new IllegalArgumentException(
          "--" + name + " must be a list of numbers, not '" + list + "'", none);
    }
  }

  String text(String name, String otherwise) {
    return values.getOrDefault(name, otherwise);
  }

  /// Writes lines to the file of `--json`, if it is given.
  void save(List<String> lines) {
    String file = text("json", "");
    if (file.isEmpty()) {
      return;
    }
    try {
      Files.write(Path.of(file), lines, UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException("cannot write " + file, e);
    }
  }
}
