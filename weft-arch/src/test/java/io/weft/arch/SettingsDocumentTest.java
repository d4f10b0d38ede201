// SPDX-License-Identifier: Apache-2.0
package io.weft.arch;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.config.ConfigOption;
import io.weft.config.OptionProvider;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Checks that docs/configuration.md agrees with the settings that the modules declare.
class SettingsDocumentTest {

  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final String SERVICE = "META-INF/services/" + OptionProvider.class.getName();

  @Test
  void documentListsExactlyTheDeclaredSettings() throws IOException {
    assertThat(rows().keySet())
        .containsExactlyInAnyOrderElementsOf(
            OptionProvider.all().stream().map(ConfigOption::name).toList());
  }

  @Test
  void documentedDefaultsAndBoundsAreTheDeclaredOnes() throws IOException {
    Map<String, Row> rows = rows();
    List<String> wrong = new ArrayList<>();
    for (ConfigOption<?> option : OptionProvider.all()) {
      Row row = rows.get(option.name());
      if (row == null) {
        wrong.add(option + " has no row");
        continue;
      }
      if (option.defaultText().isPresent() && !row.otherwise().equals(option.defaultText().get())) {
        wrong.add(option + ": default " + option.defaultText().get() + ", not " + row.otherwise());
      }
      if (!row.allowed().startsWith(option.type().allowed())) {
        wrong.add(option + ": allowed " + option.type().allowed() + ", not " + row.allowed());
      }
      if (option.scope() == ConfigOption.Scope.JOB && !row.allowed().contains("the same ")) {
        wrong.add(option + ": must be the same on several ranks");
      }
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void providerFilesNameTheSameClasses() throws IOException {
    Collection<String> common =
        Files.readAllLines(ROOT.resolve("weft-comm/src/main/resources").resolve(SERVICE));
    try (Stream<Path> modules = Files.list(ROOT)) {
      for (Path module : modules.toList()) {
        Path file = module.resolve("src/main/resources").resolve(SERVICE);
        if (Files.exists(file)) {
          assertThat(Files.readAllLines(file)).as(file.toString()).containsAll(common);
        }
      }
    }
  }

  /// A row of the first table. A row may list several names, separated by commas.
  private record Row(String otherwise, String allowed) {}

  private static Map<String, Row> rows() throws IOException {
    Map<String, Row> rows = new TreeMap<>();
    boolean table = false;
    for (String line : Files.readAllLines(ROOT.resolve("docs/configuration.md"))) {
      if (line.startsWith("| name | default |")) {
        table = true;
      } else if (table && !line.startsWith("|")) {
        break;
      } else if (table && line.startsWith("| `")) {
        String[] cells = line.substring(1).replace("`", "").split("\\|");
        for (String name : cells[0].split(",")) {
          rows.put(name.strip(), new Row(cells[1].strip(), cells[2].strip()));
        }
      }
    }
    return rows;
  }
}
