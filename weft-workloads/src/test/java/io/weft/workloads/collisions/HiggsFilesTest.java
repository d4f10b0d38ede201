// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.collisions;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.workloads.data.DataException;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.Floats;
import io.weft.workloads.data.PartReader;
import io.weft.workloads.data.ReadProgress;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HiggsFilesTest {

  private static final String END = "\n";

  @TempDir Path directory;

  @Test
  void linesAreRowsOfFloatsAndTheLastTenthIsForTesting() throws IOException {
    write(lines(20, END));
    Examples train = files().train();
    Examples test = files().test();
    assertThat(train.count()).isEqualTo(18);
    assertThat(test.count()).isEqualTo(2);
    assertThat(train.labels()).startsWith(0, 1, 0, 1);
    assertThat(Floats.get(train.values(), 3 * train.features(), 5)).isEqualTo(number(3, 5));
    assertThat(Floats.get(test.values(), test.features(), 27)).isEqualTo(number(19, 27));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 7, 40})
  void partsAreTheFileInOrder(int parts) throws IOException {
    write(lines(20, END));
    assertThat(joined(parts)).isEqualTo(joined(1));
    compress(lines(20, END));
    Files.delete(directory.resolve("HIGGS.csv"));
    assertThat(joined(parts)).isEqualTo(joined(1));
  }

  @Test
  void windowsLineEndsAndAMissingLastOneAreRead() throws IOException {
    write(lines(20, END));
    Examples expected = files().train();
    write(lines(20, "\r\n"));
    assertThat(files().train()).isEqualTo(expected);
    assertThat(joined(3)).isEqualTo(joined(1));
    write(lines(20, END).strip());
    assertThat(files().train()).isEqualTo(expected);
  }

  @Test
  void aFileThatIsCutInALineIsRefused() throws IOException {
    String whole = lines(20, END);
    String line = whole.substring(whole.lastIndexOf('\n', whole.length() - 2) + 1);
    for (int left : new int[] {1, 30, 400, line.length() - 3}) {
      write(whole.substring(0, whole.length() - line.length() + left));
      assertThatThrownBy(() -> files().train())
          .as("a last line of %d characters", left)
          .isInstanceOf(DataException.Malformed.class)
          .hasMessageContainingAll("HIGGS.csv: expected", "line 20, found", "archive.ics.uci.edu");
    }
  }

  @Test
  void aCompressedFileThatIsCutIsRefused() throws IOException {
    compress(lines(2000, END));
    byte[] whole = Files.readAllBytes(directory.resolve("HIGGS.csv.gz"));
    Files.write(directory.resolve("HIGGS.csv.gz"), Arrays.copyOf(whole, whole.length / 2));
    assertThatThrownBy(() -> files().train())
        .isInstanceOf(DataException.Malformed.class)
        .hasMessageContaining("damaged or truncated");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "5  | nan                      | a finite number as column 6 in line 15, found 'nan'",
        "5  | NaN                      | a finite number as column 6 in line 15, found 'NaN'",
        "27 | inf                      | a finite number as column 28 in line 15, found 'inf'",
        "3  | ''                       | a finite number as column 4 in line 15, found ''",
        "3  | 1e99                     | a finite number as column 4 in line 15, found '1e99'",
        "3  | 0x1p3                    | a finite number as column 4 in line 15, found '0x1p3'",
        "0  | 2.000000000000000000e+00 | label 0 or 1 at the start in line 15, found '2.0",
        "0  | -1                       | label 0 or 1 at the start in line 15, found '-1'",
        "0  | signal                   | label 0 or 1 at the start in line 15, found 'signal'",
        "9  | 1,2                      | 29 columns with commas between in line 15, found more",
      })
  void aWrongValueIsNamedWithItsLine(int column, String value, String message) throws IOException {
    String[] lines = lines(20, END).split(END, -1);
    String[] columns = lines[14].split(",", -1);
    columns[column] = value;
    lines[14] = String.join(",", columns);
    write(String.join(END, lines));
    for (int parts : new int[] {1, 2, 5}) {
      assertThatThrownBy(() -> joined(parts))
          .isInstanceOf(DataException.Malformed.class)
          .hasMessageContaining(message);
    }
  }

  @Test
  void aMissingColumnIsRefusedAtOnce() throws IOException {
    write(lines(1, END).replaceFirst(",[^,]*", ""));
    assertThatThrownBy(() -> files().check())
        .hasMessageContaining("29 columns with commas between in line 1, found 28");
  }

  @Test
  void anEmptyFileIsRefused() throws IOException {
    for (String empty : new String[] {"", "\n\r\n"}) {
      write(empty);
      assertThatThrownBy(() -> files().check()).hasMessageContaining("found an empty file");
      assertThatThrownBy(() -> files().train()).hasMessageContaining("found an empty file");
    }
  }

  @Test
  void aMissingFileIsNamed() {
    assertThatThrownBy(() -> files().check())
        .isInstanceOf(DataException.Missing.class)
        .hasMessageContaining("no file HIGGS.csv (with or without .gz)");
  }

  private HiggsFiles files() {
    return new HiggsFiles(directory);
  }

  private byte[] joined(int parts) {
    PartReader reader = files().parts().orElseThrow();
    var all = new ByteArrayOutputStream();
    for (int part = 0; part < parts; part++) {
      Examples read = reader.train(part, parts, ReadProgress.SILENT);
      all.writeBytes(read.values());
    }
    return all.toByteArray();
  }

  private void write(String text) throws IOException {
    Files.writeString(directory.resolve("HIGGS.csv"), text);
  }

  private void compress(String text) throws IOException {
    try (var out = new GZIPOutputStream(Files.newOutputStream(directory.resolve("HIGGS.csv.gz")))) {
      out.write(text.getBytes(StandardCharsets.US_ASCII));
    }
  }

  private static float number(int row, int column) {
    return (float) (Math.sin(row * 31 + column) * 3);
  }

  /// Returns lines of the published form.
  private static String lines(int count, String end) {
    var text = new StringBuilder();
    for (int row = 0; row < count; row++) {
      text.append(String.format(Locale.ROOT, "%.18e", (double) (row % 2)));
      for (int column = 0; column < HiggsCsv.FEATURES; column++) {
        text.append(String.format(Locale.ROOT, ",%.18e", (double) number(row, column)));
      }
      text.append(end);
    }
    return text.toString();
  }
}
