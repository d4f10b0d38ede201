// SPDX-License-Identifier: Apache-2.0
package io.weft.arch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// Checks that the classes, tests, commands, options, settings and tools exist that docs/papers.md
/// names in the tables of the five documents.
class PapersDocumentTest {

  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final String PART = "## The five documents";
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");
  private static final Pattern TYPE = Pattern.compile("([A-Z][a-z]\\w*)(?:\\.(\\w+))?");
  private static final Pattern HYPHENATED = Pattern.compile("[a-z0-9]+(?:-[a-z0-9]+)+");
  private static final Pattern OPTION = Pattern.compile("(?<!\\S)--?[a-z][a-z-]*");
  private static final Pattern COMMAND = Pattern.compile("weft (?:perf )?+([a-z][a-z-]*).*");
  private static final Pattern TOOL = Pattern.compile("(tools/[a-z-]+).*");

  /// Names of the documents, not of Weft: the second column quotes them.
  private static final List<String> QUOTED =
      List.of("MonitoredTrainingSession", "mpirun -np 16 -x LD_LIBRARY_PATH -H ...");

  private static final Map<String, String> SOURCES = new HashMap<>();
  private static final StringBuilder MAIN = new StringBuilder();

  @BeforeAll
  static void read() throws IOException {
    try (Stream<Path> modules = Files.list(ROOT)) {
      for (Path module : modules.filter(m -> name(m).startsWith("weft-")).toList()) {
        read(module.resolve("src/main/java"), true);
        read(module.resolve("src/test/java"), false);
      }
    }
  }

  private static String name(Path path) {
    return path.getFileName().toString();
  }

  private static void read(Path sources, boolean isMain) throws IOException {
    if (!Files.isDirectory(sources)) {
      return;
    }
    try (Stream<Path> files = Files.walk(sources)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
        String text = Files.readString(file);
        SOURCES.merge(name(file).replace(".java", ""), text, String::concat);
        if (isMain) {
          MAIN.append(text);
        }
      }
    }
  }

  @Test
  void everyNameOfTheTablesExists() throws IOException {
    String document = Files.readString(ROOT.resolve("docs/papers.md"));
    String tables = document.substring(document.indexOf(PART));
    List<String> missing = new ArrayList<>();
    int found = 0;
    Matcher code = CODE.matcher(tables);
    while (code.find()) {
      if (!QUOTED.contains(code.group(1)) && !exists(code.group(1))) {
        missing.add(code.group(1));
      }
      found++;
    }
    assertThat(missing).isEmpty();
    assertThat(found).as("names").isGreaterThan(150);
  }

  @Test
  void namesThatDoNotExistAreFound() {
    for (String wrong :
        List.of(
            "PapersTest",
            "Weft.shrinks",
            "verbs-models",
            "weft plans",
            "weft perf nonesuch",
            "weft train mnist-dnn --nothing",
            "--nothing",
            "tools/nothing")) {
      assertThat(exists(wrong)).as(wrong).isFalse();
    }
  }

  /// Returns whether all parts of a name exist that this test knows; other words are free.
  private static boolean exists(String name) {
    Matcher type = TYPE.matcher(name);
    Matcher command = COMMAND.matcher(name);
    Matcher tool = TOOL.matcher(name);
    boolean there = true;
    if (type.matches()) {
      there = isMember(type.group(1), type.group(2));
    } else if (command.matches()) {
      there = isLiteral(command.group(1)) || isBenchmark(command.group(1));
    } else if (tool.matches()) {
      there = Files.exists(ROOT.resolve(tool.group(1)));
    } else if (HYPHENATED.matcher(name).matches()) {
      there = isLiteral(name) || Files.isDirectory(ROOT.resolve(name));
    }
    return there && OPTION.matcher(name).results().allMatch(option -> isOption(option.group()));
  }

  private static boolean isMember(String type, String member) {
    String source = SOURCES.get(type);
    return source != null
        && (member == null || Pattern.compile("\\b" + member + "\\(").matcher(source).find());
  }

  private static boolean isLiteral(String text) {
    return MAIN.indexOf('"' + text + '"') >= 0;
  }

  /// Returns whether `weft perf` has a benchmark of this name, which is a constant.
  private static boolean isBenchmark(String name) {
    String constant = name.toUpperCase(Locale.ROOT).replace('-', '_');
    return Pattern.compile("\\b" + constant + "\\b")
        .matcher(SOURCES.getOrDefault("Benchmark", ""))
        .find();
  }

  /// Returns whether a literal begins with the option, which its parameter may follow.
  private static boolean isOption(String option) {
    return Pattern.compile("\"" + option + "[\" =]").matcher(MAIN).find();
  }
}
