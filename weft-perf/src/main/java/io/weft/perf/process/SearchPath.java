// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.process;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// The directories in which programs are searched. The first match wins.
public record SearchPath(List<Path> directories) {

  /// Copies the list.
  public SearchPath {
    directories = List.copyOf(directories);
  }

  /// Returns the `PATH` of this process.
  public static SearchPath ofEnvironment() {
    String path = System.getenv().getOrDefault("PATH", "");
    return new SearchPath(
        Stream.of(path.split(File.pathSeparator)).filter(d -> !d.isEmpty()).map(Path::of).toList());
  }

  /// Returns the first of `names` that is executable in one of the directories. The order of names
  /// takes precedence.
  public Optional<Path> find(String... names) {
    return Stream.of(names)
        .flatMap(name -> directories.stream().map(d -> d.resolve(name)))
        .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
        .findFirst();
  }
}
