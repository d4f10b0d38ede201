// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.process;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.stream.Stream;

/// The programs of this host, found by PATH.
public final class Programs {

  private Programs() {}

  /// Returns the path of a program.
  public static Optional<Path> find(String name) {
    String path = Optional.ofNullable(System.getenv("PATH")).orElse("/usr/bin:/bin");
    return Arrays.stream(path.split(File.pathSeparator))
        .filter(directory -> !directory.isEmpty())
        .map(directory -> Path.of(directory, name))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /// Returns true if the system can run this program with this PATH. As for `execvp`, an empty
  /// entry means the current directory.
  public static boolean canRun(String program, String path) {
    Stream<Path> places =
        program.contains("/")
            ? Stream.of(Path.of(program))
            : Arrays.stream(path.split(File.pathSeparator, -1))
                .map(directory -> Path.of(directory).resolve(program));
    return places.anyMatch(file -> Files.isRegularFile(file) && Files.isExecutable(file));
  }
}
