// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.workloads.data.DataException;
import io.weft.workloads.data.Examples;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TextFilesTest {

  private static final int CONTEXT = 8;

  @TempDir private Path directory;

  private Path written(String name, String text) throws Exception {
    return Files.writeString(directory.resolve(name), text);
  }

  private static String window(Examples of, int row) {
    byte[] values = Arrays.copyOfRange(of.values(), row * CONTEXT, (row + 1) * CONTEXT);
    return new String(values, StandardCharsets.US_ASCII) + "|" + (char) of.labels()[row];
  }

  @Test
  void windowsOverlapForTrainingAndNotForTests() throws Exception {
    String text = "abcdefghijklmnopqrst".repeat(10);
    var files = new TextFiles(written("text", text), CONTEXT);
    Examples train = files.train();
    Examples test = files.test();
    assertThat(train.count()).isEqualTo((180 - CONTEXT - 1) / 2 + 1);
    assertThat(window(train, 0)).isEqualTo("abcdefgh|i");
    assertThat(window(train, 1)).isEqualTo("cdefghij|k");
    assertThat(test.count()).isEqualTo(2);
    assertThat(window(test, 0)).isEqualTo("abcdefgh|i");
    assertThat(window(test, 1)).isEqualTo("klmnopqr|s");
  }

  @Test
  void charactersOutsideAsciiShareAClass() {
    assertThat(Characters.classes("aé\n€")).containsExactly('a', 127, '\n', 127);
    assertThat(Characters.character(127)).isEqualTo('\uFFFD');
  }

  @Test
  void aDirectoryIsReadInTheOrderOfNames() throws Exception {
    var unused = written("b.txt", "b".repeat(90));
    unused = written("a.md", "a".repeat(90));
    unused = written("c.bin", "c".repeat(90));
    Examples train = new TextFiles(directory, CONTEXT).train();
    assertThat(window(train, 0)).isEqualTo("aaaaaaaa|a");
    assertThat(window(train, train.count() - 1)).isEqualTo("bbbbbbbb|b");
  }

  @Test
  void shortEmptyAndMissingTextsAreRefusedWithTheLengthNeeded() throws Exception {
    var small = new TextFiles(written("short", "x".repeat(89)), CONTEXT);
    assertThatThrownBy(small::check)
        .isInstanceOf(DataException.Malformed.class)
        .hasMessageContaining("short: expected at least 90 characters with --context 8, found 89");
    new TextFiles(written("enough", "x".repeat(90)), CONTEXT).check();
    var empty = new TextFiles(written("empty", ""), CONTEXT);
    assertThatThrownBy(empty::check).hasMessageContaining("found no text");
    var missing = new TextFiles(directory.resolve("none"), CONTEXT);
    assertThatThrownBy(missing::check)
        .isInstanceOf(DataException.Missing.class)
        .hasMessageContaining("none");
  }

  @Test
  void aFileOfBytesIsRefused() throws Exception {
    var bytes = new TextFiles(written("bytes", "ab\0".repeat(90)), CONTEXT);
    assertThatThrownBy(bytes::check).hasMessageContaining("expected text, found a zero byte");
  }

  @Test
  void drawnSentencesDependOnTheSeedOnly() {
    Examples first = new DrawnSentences(64, 1).train();
    assertThat(new DrawnSentences(64, 1).train()).isEqualTo(first);
    assertThat(new DrawnSentences(64, 2).train()).isNotEqualTo(first);
    assertThat(new DrawnSentences(64, 1).test().count()).isBetween(100, 512);
    assertThat(first.values()).doesNotContain((byte) 127);
  }
}
