// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MnistFilesTest {

  @TempDir Path directory;

  @BeforeEach
  void wholeFiles() throws IOException {
    write("train-images-idx3-ubyte", images(3, 28, 28));
    write("train-labels-idx1-ubyte", labels(5, 0, 9));
    write("t10k-images-idx3-ubyte", images(2, 28, 28));
    write("t10k-labels-idx1-ubyte", labels(1, 2));
  }

  @Test
  void imagesAndLabelsAreRead() {
    var files = new MnistFiles(directory);
    files.check();
    Examples train = files.train();
    assertThat(train.count()).isEqualTo(3);
    assertThat(train.labels()).containsExactly(5, 0, 9);
    assertThat(train.values()[784]).isEqualTo((byte) 784);
    assertThat(train.scale()).isEqualTo(1f / 255);
    assertThat(files.test().labels()).containsExactly(1, 2);
    assertThat(files.name()).isEqualTo("MNIST files in " + directory);
  }

  @Test
  void gzipIsRecognizedByItsContents() throws IOException {
    Path plain = directory.resolve("train-images-idx3-ubyte");
    var packed = new ByteArrayOutputStream();
    try (var gzip = new GZIPOutputStream(packed)) {
      gzip.write(Files.readAllBytes(plain));
    }
    Examples before = new MnistFiles(directory).train();
    Files.delete(plain);
    write("train-images-idx3-ubyte.gz", packed.toByteArray());
    assertThat(new MnistFiles(directory).train()).isEqualTo(before);
  }

  @Test
  void aTruncatedFileIsNamedWithBothLengths() throws IOException {
    byte[] whole = images(3, 28, 28);
    write("train-images-idx3-ubyte", Arrays.copyOf(whole, whole.length - 100));
    assertThatThrownBy(() -> new MnistFiles(directory).train())
        .isInstanceOf(DataException.Malformed.class)
        .hasMessageContaining("train-images-idx3-ubyte")
        .hasMessageContaining("expected 2352 bytes")
        .hasMessageContaining("only 2252 (truncated)")
        .hasMessageContaining("https://");
  }

  @Test
  void aTruncatedGzipIsDamaged() throws IOException {
    var packed = new ByteArrayOutputStream();
    try (var gzip = new GZIPOutputStream(packed)) {
      gzip.write(labels(5, 0, 9));
    }
    write("train-labels-idx1-ubyte", Arrays.copyOf(packed.toByteArray(), packed.size() - 12));
    assertThatThrownBy(() -> new MnistFiles(directory).train())
        .isInstanceOf(DataException.Malformed.class)
        .hasMessageContaining("damaged or truncated");
  }

  @Test
  void aHeaderThatClaimsTooMuchIsRefused() throws IOException {
    write("train-images-idx3-ubyte", images(Integer.MAX_VALUE, 28, 28, 10));
    assertThatThrownBy(() -> new MnistFiles(directory).check())
        .isInstanceOf(DataException.Malformed.class)
        .hasMessageContaining("at most 1073741824 bytes");
    write("train-images-idx3-ubyte", images(1_000_000, 28, 28, 10));
    assertThatThrownBy(() -> new MnistFiles(directory).train())
        .isInstanceOf(DataException.Malformed.class)
        .hasMessageContaining("only 10 (truncated)");
  }

  @Test
  void swappedFilesAreRefused() throws IOException {
    write("train-images-idx3-ubyte", labels(1, 2, 3));
    assertThatThrownBy(() -> new MnistFiles(directory).check())
        .hasMessageContaining("expected IDX magic number 0x00000803")
        .hasMessageContaining("found 0x00000801");
  }

  @Test
  void countsOfImagesAndLabelsMustAgree() throws IOException {
    write("train-labels-idx1-ubyte", labels(1, 2));
    assertThatThrownBy(() -> new MnistFiles(directory).check())
        .hasMessageContaining("expected 3 labels")
        .hasMessageContaining("found 2");
  }

  @Test
  void aLabelAboveNineIsRefused() throws IOException {
    write("train-labels-idx1-ubyte", labels(1, 200, 3));
    assertThatThrownBy(() -> new MnistFiles(directory).train())
        .hasMessageContaining("expected labels 0 to 9, found 200 at position 1");
  }

  @Test
  void imagesOfAnotherSizeAreRefused() throws IOException {
    write("train-images-idx3-ubyte", images(3, 32, 32));
    assertThatThrownBy(() -> new MnistFiles(directory).check())
        .hasMessageContaining("images of 28x28");
  }

  @Test
  void aMissingFileIsNamedWithItsSource() throws IOException {
    Files.delete(directory.resolve("t10k-labels-idx1-ubyte"));
    assertThatThrownBy(() -> new MnistFiles(directory).check())
        .isInstanceOf(DataException.Missing.class)
        .hasMessageContaining("no file t10k-labels-idx1-ubyte")
        .hasMessageContaining("https://");
    assertThatThrownBy(() -> new MnistFiles(directory.resolve("nowhere")).check())
        .isInstanceOf(DataException.Missing.class)
        .hasMessageContaining("no directory");
  }

  private void write(String name, byte[] bytes) throws IOException {
    Files.write(directory.resolve(name), bytes);
  }

  private static byte[] images(int count, int rows, int columns) throws IOException {
    return images(count, rows, columns, count * rows * columns);
  }

  private static byte[] images(int count, int rows, int columns, int bytes) throws IOException {
    var file = new ByteArrayOutputStream();
    var out = new DataOutputStream(file);
    for (int number : new int[] {0x803, count, rows, columns}) {
      out.writeInt(number);
    }
    for (int i = 0; i < bytes; i++) {
      out.writeByte(i);
    }
    return file.toByteArray();
  }

  private static byte[] labels(int... labels) throws IOException {
    var file = new ByteArrayOutputStream();
    var out = new DataOutputStream(file);
    out.writeInt(0x801);
    out.writeInt(labels.length);
    for (int label : labels) {
      out.writeByte(label);
    }
    return file.toByteArray();
  }
}
