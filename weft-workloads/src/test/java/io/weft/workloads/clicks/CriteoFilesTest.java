// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.clicks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.weft.workloads.data.DataException;
import io.weft.workloads.data.Examples;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CriteoFilesTest {

  private static final String CATEGORIES = "\t68fd1e64".repeat(25) + "\t";

  @TempDir Path directory;

  @Test
  void everyTenthLineIsForTesting() throws IOException {
    write(IntStream.range(0, 40).mapToObj(i -> line(i % 3 == 0 ? "1" : "0", "7")).toList());
    Examples train = new CriteoFiles(directory).train();
    Examples test = new CriteoFiles(directory).test();
    assertThat(train.count()).isEqualTo(36);
    assertThat(test.count()).isEqualTo(4);
    assertThat(train.features()).isEqualTo(78);
    assertThat(train.labels()).startsWith(1, 0, 0, 1);
  }

  @Test
  void numbersBecomeCategoriesByTheirLogarithm() throws IOException {
    List<String> numbers = List.of("", "-2", "0", "1", "3", "7", "1048575", "9223372036854775807");
    write(
        IntStream.range(0, 9)
            .mapToObj(i -> line("0", i < numbers.size() ? numbers.get(i) : "5"))
            .toList());
    Examples train = new CriteoFiles(directory).train();
    assertThat(IntStream.range(0, numbers.size()).map(i -> id(train, i, 0)).toArray())
        .containsExactly(0, 1, 2, 4, 6, 8, 42, 128);
    assertThat(id(train, 0, 38)).isZero();
    assertThat(id(train, 0, 37)).isEqualTo(1 + (int) (0x68fd1e64L % 499));
  }

  @ParameterizedTest
  @CsvSource({
    "label, 2, line 3",
    "number, x1, field 2 of line 3",
    "category, zz, field 15 of line 3",
    "fields, 39 fields, line 3"
  })
  void malformedFieldsAreNamed(String kind, String found, String where) throws IOException {
    String wrong =
        switch (kind) {
          case "label" -> line("2", "1");
          case "number" -> line("0", "x1");
          case "category" -> line("0", "1").replaceFirst("68fd1e64", "zz");
          default -> line("0", "1").replaceFirst("\t68fd1e64", "");
        };
    write(List.of(line("0", "1"), line("1", "1"), wrong));
    assertThatExceptionOfType(DataException.Malformed.class)
        .isThrownBy(() -> new CriteoFiles(directory).check())
        .withMessageContaining(found)
        .withMessageContaining(where)
        .withMessageContaining("kaggle");
  }

  @Test
  void aMissingFileIsNamedWithItsRemedy() {
    assertThatExceptionOfType(DataException.Missing.class)
        .isThrownBy(() -> new CriteoFiles(directory).check())
        .withMessageContaining("train.txt")
        .withMessageContaining("--data");
  }

  private static int id(Examples examples, int row, int column) {
    return Ids.get(examples.values(), row * examples.features(), column);
  }

  private static String line(String label, String firstNumber) {
    return label + "\t" + firstNumber + "\t12".repeat(12) + CATEGORIES;
  }

  private void write(List<String> lines) throws IOException {
    Files.writeString(
        directory.resolve("train.txt"), lines.stream().collect(Collectors.joining("\n", "", "\n")));
  }
}
