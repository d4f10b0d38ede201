// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.census;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.workloads.data.DataException;
import io.weft.workloads.data.DataFile;
import io.weft.workloads.data.Examples;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class CensusFilesTest {

  private static final String FIRST =
      "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White,"
          + " Male, 2174, 0, 40, United-States, <=50K";
  private static final String MISSING =
      "54, ?, 180211, Some-college, 10, Married-civ-spouse, ?, Husband, Asian-Pac-Islander, Male,"
          + " 0, 0, 60, South, >50K";
  private static final String CUBAN =
      "28, Private, 338409, Bachelors, 13, Married-civ-spouse, Prof-specialty, Wife, Black, Female,"
          + " 0, 0, 40, Cuba, <=50K";

  @TempDir Path directory;

  private DataFile gzipped(byte[] block, int times) throws IOException {
    Path file = directory.resolve("adult.data.gz");
    try (var out = new GZIPOutputStream(Files.newOutputStream(file))) {
      for (int i = 0; i < times; i++) {
        out.write(block);
      }
    }
    return new DataFile(file, "get another");
  }

  @Test
  @Timeout(60)
  void endlessBlankLinesAreRefusedEarly() throws IOException {
    for (char blank : new char[] {'\n', ' '}) {
      byte[] block = new byte[1 << 16];
      Arrays.fill(block, (byte) blank);
      block[block.length - 1] = '\n';
      DataFile file = gzipped(block, 200);
      assertThat(Files.size(file.path())).isLessThan(100_000);
      assertThatThrownBy(() -> CensusCsv.read(file, 10))
          .isInstanceOf(DataException.Malformed.class)
          .hasMessageContaining("adult.data.gz")
          .hasMessageContaining("blank lines");
    }
  }

  @Test
  @Timeout(60)
  void aPipeIsRefusedWithoutWaitingForItsWriter() throws Exception {
    Path pipe = directory.resolve("adult.data");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    assertThatThrownBy(() -> new CensusFiles(directory).check())
        .isInstanceOf(DataException.class)
        .hasMessageContaining("adult.data");
    assertThatThrownBy(() -> CensusCsv.read(new DataFile(pipe, "get another")))
        .isInstanceOf(DataException.class)
        .hasMessageContaining(pipe + ": it is a FIFO");
  }

  @Test
  void aDataSetBeyondTheHeapIsNamed() throws IOException {
    Path file = Files.writeString(directory.resolve("adult.data"), "x\n");
    assertThatThrownBy(
            () ->
                new DataFile(file, "get another")
                    .lines(
                        (line, number) -> {
                          throw new OutOfMemoryError("Java heap space");
                        }))
        .isInstanceOf(DataException.TooLarge.class)
        .hasMessageContaining(file + ": the data set does not fit into a heap of ")
        .hasMessageContaining("-Xmx");
  }

  @Test
  void theAttributesMakeOneHundredAndTwentyThreeFeatures() {
    assertThat(Encoding.ATTRIBUTES).hasSize(14);
    assertThat(Encoding.ATTRIBUTES.stream().mapToInt(Attribute::width))
        .containsExactly(5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41);
    assertThat(Encoding.ATTRIBUTES.stream().mapToInt(Attribute::width).sum())
        .isEqualTo(Encoding.FEATURES);
  }

  /// The first rows of the published training set are encoded like LIBSVM's a9a.
  @Test
  void knownRowsAreEncodedAsInA9a() throws IOException {
    Examples train = files(List.of(FIRST, CUBAN, MISSING), List.of(FIRST + ".")).train();
    assertThat(set(train, 0))
        .containsExactly(3, 11, 14, 19, 39, 42, 55, 64, 67, 73, 75, 76, 80, 83);
    assertThat(set(train, 1)).containsExactly(2, 6, 18, 19, 39, 40, 52, 61, 71, 72, 74, 76, 80, 95);
    assertThat(set(train, 2)).containsExactly(5, 16, 20, 37, 40, 63, 68, 73, 74, 76, 82, 93);
    assertThat(train.labels()).containsExactly(0, 0, 1);
  }

  @Test
  void binsBeginWhereThoseOfA9aBegin() {
    assertThat(codes(0, 17, 25, 26, 32, 33, 40, 41, 49, 50, 90))
        .containsExactly(0, 0, 1, 1, 2, 2, 3, 3, 4, 4);
    assertThat(codes(4, 1, 8, 9, 10, 11, 12, 13, 16)).containsExactly(0, 0, 1, 2, 3, 3, 4, 4);
    assertThat(codes(12, 1, 34, 35, 39, 40, 41, 47, 48, 99))
        .containsExactly(0, 0, 1, 1, 2, 3, 3, 4, 4);
    assertThat(codes(10, 0, 114, 99999)).containsExactly(0, 1, 1);
  }

  @Test
  void theTestFileMayBeginWithACommentAndItsLabelsEndInADot() throws IOException {
    CensusFiles files = files(List.of(FIRST), List.of("|1x3 Cross validator", MISSING + "."));
    files.check();
    assertThat(files.test().labels()).containsExactly(1);
  }

  @Test
  void aRowThatIsCutOffIsNamed() throws IOException {
    CensusFiles files = files(List.of(FIRST, FIRST.substring(0, 60)), List.of(FIRST));
    assertThatThrownBy(files::train)
        .isInstanceOf(DataException.Malformed.class)
        .hasMessageContaining("adult.data")
        .hasMessageContaining("expected 15 columns with commas between in line 2");
  }

  @Test
  void aWordThatNoAttributeHasIsNamed() throws IOException {
    CensusFiles files = files(List.of(FIRST.replace("Bachelors", "Bachelor")), List.of(FIRST));
    assertThatThrownBy(files::check)
        .hasMessageContaining("education in line 1")
        .hasMessageContaining("'Bachelor'");
  }

  @Test
  void aWrongLabelIsNamed() throws IOException {
    CensusFiles files = files(List.of(FIRST.replace("<=50K", "poor")), List.of(FIRST));
    assertThatThrownBy(files::train).hasMessageContaining("label <=50K or >50K in line 1");
  }

  @Test
  void libsvmTextIsReadIfThereIsNoCsv() throws IOException {
    Files.writeString(directory.resolve("a9a"), "-1 3:1 123:1\n+1 1:1\n");
    Files.writeString(directory.resolve("a9a.t"), "+1 5:1\n");
    var files = new CensusFiles(directory);
    files.check();
    assertThat(set(files.train(), 0)).containsExactly(3, 123);
    assertThat(files.name()).contains("LIBSVM");
  }

  @Test
  void aDirectoryWithoutTheFilesIsReported() {
    assertThatThrownBy(() -> new CensusFiles(directory).check())
        .isInstanceOf(DataException.Missing.class)
        .hasMessageContaining("adult.data")
        .hasMessageContaining("https://");
  }

  @Test
  void theSyntheticCensusIsTheSameForTheSameSeed() {
    Examples census = new SyntheticCensus(4).test();
    assertThat(new SyntheticCensus(4).test()).isEqualTo(census);
    assertThat(new SyntheticCensus(5).test()).isNotEqualTo(census);
    assertThat(set(census, 0)).hasSize(14);
    long rich = IntStream.range(0, census.count()).filter(i -> census.labels()[i] == 1).count();
    assertThat(rich).isBetween(census.count() / 4L, census.count() * 3L / 4);
  }

  private CensusFiles files(List<String> train, List<String> test) throws IOException {
    Files.write(directory.resolve("adult.data"), train);
    Files.write(directory.resolve("adult.test"), test);
    return new CensusFiles(directory);
  }

  private static int[] codes(int attribute, int... values) {
    return IntStream.of(values)
        .map(v -> Encoding.ATTRIBUTES.get(attribute).code(Integer.toString(v)))
        .toArray();
  }

  /// Returns the indices, from 1 on, of the features that are 1.
  private static List<Integer> set(Examples examples, int row) {
    return IntStream.rangeClosed(1, examples.features())
        .filter(f -> examples.values()[row * examples.features() + f - 1] == 1)
        .boxed()
        .toList();
  }
}
