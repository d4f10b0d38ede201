// SPDX-License-Identifier: Apache-2.0
package io.weft.arch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Checks that the tests that `horovod-tests.txt` names exist. They show the statements of
/// docs/horovod.md.
class HorovodDocumentTest {

  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Pattern NAME = Pattern.compile("\\b([A-Z]\\w*Test)(?:\\.(\\w+))?");

  @Test
  void everyNamedTestExists() throws IOException {
    Map<String, String> sources = sources();
    List<String> missing = new ArrayList<>();
    int found = 0;
    for (String line : Files.readAllLines(Path.of("src/test/resources/horovod-tests.txt"))) {
      Matcher named = NAME.matcher(line.startsWith("#") ? "" : line);
      while (named.find()) {
        String source = sources.getOrDefault(named.group(1), "");
        String method = named.group(2);
        boolean there =
            method == null ? !source.isEmpty() : source.contains("void " + method + "(");
        if (!there) {
          missing.add(named.group());
        }
        found++;
      }
    }
    assertThat(missing).isEmpty();
    assertThat(found).isGreaterThan(80);
  }

  /// Returns the sources of all tests by the names of their classes.
  private static Map<String, String> sources() throws IOException {
    Map<String, String> sources = new HashMap<>();
    try (Stream<Path> modules = Files.list(ROOT)) {
      for (Path module : modules.toList()) {
        Path tests = module.resolve("src/test/java");
        if (Files.isDirectory(tests)) {
          read(tests, sources);
        }
      }
    }
    return sources;
  }

  private static void read(Path tests, Map<String, String> into) throws IOException {
    try (Stream<Path> files = Files.walk(tests)) {
      for (Path file : files.filter(f -> f.toString().endsWith("Test.java")).toList()) {
        String name = file.getFileName().toString().replace(".java", "");
        into.merge(name, Files.readString(file), String::concat);
      }
    }
  }
}
