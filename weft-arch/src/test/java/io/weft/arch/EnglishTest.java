// SPDX-License-Identifier: Apache-2.0
package io.weft.arch;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/// Counts turns of phrase that hide the subject of a sentence, per 1,000 words of documents, of the
/// comments of each module and of its messages. STYLE.md, rule 13, says how to write instead. The
/// bounds may be lowered, never raised: a sentence that exceeds them must be rewritten.
class EnglishTest {

  /// Hits per 1,000 words.
  private static final double MOST_IN_DOCUMENTS = 0.5;

  private static final double MOST_IN_COMMENTS = 1.5;
  private static final double MOST_IN_MESSAGES = 3;

  private static final Path ROOT = Path.of("..");
  private static final Pattern WORD = Pattern.compile("[A-Za-z][A-Za-z'-]+");
  private static final Pattern CODE_BLOCK = Pattern.compile("(?s)```.*?```");
  private static final Pattern COMMENT = Pattern.compile("(?m)^\\s*//+/? ?(.*)$");
  private static final Pattern TEXT =
      Pattern.compile("\"((?:[^\"\\\\\\n]|\\\\.)* (?:[^\"\\\\\\n]|\\\\.)*)\"");

  private static final Pattern TURN =
      Pattern.compile(
          String.join(
              "|",
              // a pronoun in place of the class, the caller, the rank
              "(?<=[.;:,(] )[Ww]ho(?:ever)? (?:has|is|was|does|did|may|must|can|[a-z]+s)\\b",
              "\\b[Ww]hat"
                  + " (?:is|was|has|had|came|each|they|it|all|the|there|ranks|this|that|[a-z]+s) ",
              // a comparison in place of a number or a bound
              "\\b(?:so|as) (?:many|much|long|short|few|far|often)\\b(?! as)",
              "\\b(?:than|as|what|where|all|that|which) there (?:is|are|was|were)\\b",
              "\\b(?:is|are|was|were) no (?!longer|more\\b)[a-z]+",
              "\\bshall\\b",
              "\\b[Tt]he same (?:of|with|for|into|in|until|else|where|without|after|on)\\b",
              "\\bof (?:its|their|one's|your|the \\w+'s|a \\w+'s) own\\b",
              "\\b(?:else|beside|besides|meanwhile|anyway)[.;,:]",
              "\\bone (?:after|behind|beside) the other\\b",
              "\\bof (?:which|whom)\\b",
              "\\b(?:but for|as ever)\\b"));

  @TestFactory
  Stream<DynamicTest> sentencesNameTheirSubjects() throws IOException {
    List<DynamicTest> tests = new ArrayList<>();
    List<Path> documents = files(ROOT, ".md");
    documents.removeIf(it -> it.toString().contains("/adr/") || it.toString().contains("/target/"));
    assertThat(documents).hasSizeGreaterThan(30);
    tests.add(test("documents", text(documents, EnglishTest::prose), MOST_IN_DOCUMENTS));
    for (Path module : modules()) {
      List<Path> sources = files(module.resolve("src/main/java"), ".java");
      String name = module.getFileName().toString();
      tests.add(test(name + " comments", text(sources, EnglishTest::comments), MOST_IN_COMMENTS));
      tests.add(test(name + " messages", text(sources, EnglishTest::messages), MOST_IN_MESSAGES));
    }
    assertThat(tests).hasSizeGreaterThan(25);
    return tests.stream();
  }

  private static DynamicTest test(String name, String text, double most) {
    return DynamicTest.dynamicTest(
        name,
        () -> {
          long words = WORD.matcher(text).results().count();
          List<String> hits = TURN.matcher(text).results().map(hit -> context(text, hit)).toList();
          // one hit is always allowed: some modules have few words
          assertThat(hits)
              .as("%s: turns of phrase in %d words; STYLE.md, rule 13", name, words)
              .hasSizeLessThanOrEqualTo((int) Math.max(1, most * words / 1000));
        });
  }

  private static String context(String text, MatchResult hit) {
    int from = Math.max(0, hit.start() - 40);
    int to = Math.min(text.length(), hit.end() + 40);
    return text.substring(from, to).replace('\n', ' ');
  }

  private static List<Path> modules() throws IOException {
    try (Stream<Path> all = Files.list(ROOT)) {
      return all.filter(it -> Files.isDirectory(it.resolve("src/main/java"))).sorted().toList();
    }
  }

  private static List<Path> files(Path root, String suffix) throws IOException {
    try (Stream<Path> all = Files.walk(root)) {
      return all.filter(it -> it.toString().endsWith(suffix))
          .sorted()
          .collect(Collectors.toCollection(ArrayList::new));
    }
  }

  private static String text(List<Path> files, UnaryOperator<String> part) {
    return files.stream().map(EnglishTest::read).map(part).collect(Collectors.joining("\n"));
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String prose(String document) {
    return CODE_BLOCK.matcher(document).replaceAll("").replace("`", "");
  }

  private static String comments(String source) {
    return COMMENT
        .matcher(source)
        .results()
        .map(it -> it.group(1))
        .collect(Collectors.joining("\n"));
  }

  private static String messages(String source) {
    return TEXT.matcher(source).results().map(it -> it.group(1)).collect(Collectors.joining(".\n"));
  }
}
