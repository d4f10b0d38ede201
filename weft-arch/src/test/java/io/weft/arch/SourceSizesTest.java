// SPDX-License-Identifier: Apache-2.0
package io.weft.arch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Checks that no source has more than 600 lines, because a longer one has more than one subject.
class SourceSizesTest {

  private static final int MOST_LINES = 600;
  private static final Path ROOT = Path.of("..");

  @Test
  void noSourceIsTooLong() throws IOException {
    PathMatcher sources = FileSystems.getDefault().getPathMatcher("glob:../*/src/**.java");
    List<Path> all;
    try (Stream<Path> files = Files.walk(ROOT)) {
      all = files.filter(sources::matches).toList();
    }
    assertThat(all).hasSizeGreaterThan(500);
    assertThat(all)
        .allSatisfy(file -> assertThat(lines(file)).as("lines").isLessThanOrEqualTo(MOST_LINES));
  }

  private static long lines(Path file) {
    try (Stream<String> lines = Files.lines(file)) {
      return lines.count();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
