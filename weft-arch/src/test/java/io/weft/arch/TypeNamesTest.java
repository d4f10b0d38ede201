// SPDX-License-Identifier: Apache-2.0
package io.weft.arch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Checks that no two top-level types of production code have one name, because a name that means
/// two things must be looked up at each use. The build compiles each type from a file of its name.
class TypeNamesTest {

  private static final Path ROOT = Path.of("..");

  @Test
  void noTwoTypesShareAName() throws IOException {
    List<Path> all = sources("glob:../weft-*/src/main/java/**.java");
    assertThat(all).hasSizeGreaterThan(500);
    assertThat(shared(all)).as("types of one name; a prefix distinguishes them").isEmpty();
  }

  @Test
  void twoTypesOfOneNameAreFound() {
    Path here = Path.of("weft-a/src/main/java/a/Step.java");
    Path there = Path.of("weft-b/src/main/java/b/Step.java");
    assertThat(shared(List.of(here, Path.of("weft-a/src/main/java/a/Way.java"), there)))
        .containsExactly(Map.entry("Step.java", List.of(here, there)));
  }

  private static Map<String, List<Path>> shared(List<Path> sources) {
    Map<String, List<Path>> byName =
        sources.stream()
            .collect(
                Collectors.groupingBy(
                    source -> source.getFileName().toString(), TreeMap::new, Collectors.toList()));
    byName.values().removeIf(files -> files.size() == 1);
    return byName;
  }

  private static List<Path> sources(String pattern) throws IOException {
    PathMatcher wanted = FileSystems.getDefault().getPathMatcher(pattern);
    try (Stream<Path> files = Files.walk(ROOT)) {
      return files
          .filter(wanted::matches)
          .filter(source -> !source.getFileName().toString().endsWith("-info.java"))
          .toList();
    }
  }
}
