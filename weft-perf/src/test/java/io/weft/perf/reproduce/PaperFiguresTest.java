// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.reproduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class PaperFiguresTest {

  private static final Path PAPERS = Path.of("../docs/papers.md");
  private static final Pattern SECTION = Pattern.compile("### \\d\\. ([A-Z0-9]+).*");
  private static final Pattern PLACES =
      Pattern.compile("(fig\\.|table) (\\d+(?:(?:, | to )\\d+)*)");

  private static Set<String> keys() {
    return PaperFigures.all().stream().map(PaperFigure::key).collect(Collectors.toSet());
  }

  @Test
  void everyFigureAndTableOfTheDocumentHasARow() throws Exception {
    List<String> wanted = new ArrayList<>();
    String section = "";
    for (String line : Files.readAllLines(PAPERS)) {
      Matcher heading = SECTION.matcher(line);
      if (heading.matches()) {
        section = heading.group(1);
      } else if (line.startsWith("## ")) {
        section = "";
      } else if (!section.isEmpty() && line.startsWith("| ")) {
        wanted.addAll(named(section, line.split("\\|", -1)[1]));
      }
    }
    assertThat(wanted).contains("JIA17.fig5", "VIS16.fig4", "VIS16.table1", "PSLITE.fig10");
    Set<String> keys = keys();
    assertThat(wanted)
        .hasSizeGreaterThan(20)
        .allSatisfy(each -> assertThat(has(keys, each)).as(each).isTrue());
  }

  /// Returns the keys of a place such as `§4.2 to §4.6, fig. 1 to 6`.
  private static List<String> named(String document, String place) {
    List<String> named = new ArrayList<>();
    Matcher match = PLACES.matcher(place);
    while (match.find()) {
      String kind = match.group(1).replace(".", "");
      String[] numbers = match.group(2).split(", | to ");
      int first = Integer.parseInt(numbers[0]);
      int last = Integer.parseInt(numbers[numbers.length - 1]);
      if (match.group(2).contains(" to ")) {
        for (int each = first; each <= last; each++) {
          named.add(document + "." + kind + each);
        }
      } else {
        for (String each : numbers) {
          named.add(document + "." + kind + each);
        }
      }
    }
    return named;
  }

  /// Returns whether a figure or one of its parts has a row.
  private static boolean has(Set<String> keys, String wanted) {
    return keys.stream()
        .anyMatch(each -> each.equals(wanted) || each.matches(Pattern.quote(wanted) + "\\D.*"));
  }

  @Test
  void thereAreRowsOfFiveDocumentsWithDistinctKeys() {
    List<PaperFigure> all = PaperFigures.all();
    assertThat(all).hasSizeGreaterThan(45);
    assertThat(keys()).hasSameSizeAs(all);
    assertThat(all.stream().map(PaperFigure::document).distinct())
        .containsExactly("JIA17", "PSLITE", "VIS16", "SEASTAR", "HVD18");
    assertThat(all).allSatisfy(each -> assertThat(each.claim()).hasSizeGreaterThan(20));
  }

  @Test
  void figuresAreSelectedByDocumentNumberAndPart() {
    assertThat(selected("JIA17.5")).containsExactly("JIA17.fig5");
    assertThat(selected("VIS16.table1", "JIA17.fig1"))
        .containsExactly("JIA17.fig1", "VIS16.table1");
    assertThat(selected("HVD18.fig6"))
        .containsExactly("HVD18.fig6-inception-v3", "HVD18.fig6-resnet101", "HVD18.fig6-standard");
    assertThat(selected("PSLITE.fig1")).containsExactly("PSLITE.fig1");
    assertThat(selected("VIS16")).hasSize(9);
    assertThat(selected()).hasSameSizeAs(PaperFigures.all());
  }

  private static List<String> selected(String... words) {
    return PaperFigures.selected(List.of(words)).stream().map(PaperFigure::key).toList();
  }

  @Test
  void unknownFiguresAreRefusedWithTheKnownOnes() {
    assertThatThrownBy(() -> selected("JIA17.fig9"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("--only: unknown figure 'JIA17.fig9'")
        .hasMessageContaining("HVD18.fig6-resnet101");
    assertThatThrownBy(() -> selected("")).hasMessageContaining("unknown figure ''");
  }
}
