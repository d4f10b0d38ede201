// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.process;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// Directories in which programs are looked for, first match first.
public record SearchPath(List<Path> directories) {

  /// Copies the list.
  public SearchPath {
    directories = List.copyOf(directories);
  }

  /// That of this process: `PATH`.
  public static SearchPath ofEnvironment() {
    String path = System.getenv().getOrDefault("PATH", "");
    return new SearchPath(
        Stream.of(path.split(File.pathSeparator)).filter(d -> !d.isEmpty()).map(Path::of).toList());
  }

  /// The first of `names` that is executable anywhere, in order of names.
  public Optional<Path> find(String... names) {
    return Stream.of(names)
        .flatMap(name -> directories.stream().map(d -> d.resolve(name)))
        .filter(file -> Files.isRegularFile(file) && Files.isExecutable(file))
        .findFirst();
  }
}
