// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;

/// Reads the files in which Linux describes the system; empty if they do not exist.
final class SystemFiles {

  private SystemFiles() {}

  static Optional<String> text(String file) {
    try {
      return Optional.of(Files.readString(Path.of(file)).strip());
    } catch (IOException absent) {
      return Optional.empty();
    }
  }

  /// Returns the text after `name` and a colon or blanks, in the first line that begins with
  /// `name`.
  static Optional<String> field(String file, String name) {
    return text(file)
        .flatMap(
            content ->
                content
                    .lines()
                    .filter(line -> line.startsWith(name))
                    .map(line -> line.substring(name.length()).replaceFirst("^[\\s:]+", "").strip())
                    .findFirst());
  }

  /// Returns a size in words, such as "7.8 GiB".
  static String size(long bytes) {
    return bytes >= 1L << 30
        ? String.format(Locale.ROOT, "%.1f GiB", bytes / (double) (1L << 30))
        : String.format(Locale.ROOT, "%.1f MiB", bytes / (double) (1L << 20));
  }
}
