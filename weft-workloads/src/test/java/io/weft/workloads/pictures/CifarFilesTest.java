// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.pictures;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.workloads.data.DataException;
import io.weft.workloads.data.Examples;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CifarFilesTest {

  private static final int PICTURE = 3072;

  @TempDir Path directory;

  private static byte[] batch(int records, int first) {
    byte[] bytes = new byte[records * (1 + PICTURE)];
    new Random(first).nextBytes(bytes);
    for (int i = 0; i < records; i++) {
      bytes[i * (1 + PICTURE)] = (byte) ((first + i) % 10);
    }
    return bytes;
  }

  private void batches() throws IOException {
    for (int i = 1; i <= 5; i++) {
      Files.write(directory.resolve("data_batch_" + i + ".bin"), batch(3, i));
    }
    Files.write(directory.resolve("test_batch.bin"), batch(2, 9));
  }

  /// Returns an image whose pixel at x, y has the colours x, y and its class.
  private static BufferedImage image(int type, int side) {
    var image = new BufferedImage(side, side, BufferedImage.TYPE_INT_RGB);
    for (int y = 0; y < side; y++) {
      for (int x = 0; x < side; x++) {
        image.setRGB(x, y, x << 16 | y << 8 | type);
      }
    }
    return image;
  }

  private void folders() throws IOException {
    for (String part : new String[] {"train", "test"}) {
      for (int label = 0; label < 10; label++) {
        Path folder = Files.createDirectories(directory.resolve(part).resolve("class" + label));
        ImageIO.write(image(label, 32), "png", folder.resolve("b.png").toFile());
        ImageIO.write(image(100 + label, 32), "bmp", folder.resolve("a.BMP").toFile());
        Files.writeString(folder.resolve("notes.txt"), "no image");
      }
    }
  }

  @Test
  void binaryBatchesAreReadInOrder() throws IOException {
    batches();
    var files = new CifarFiles(directory);
    files.check();
    assertThat(files.name()).isEqualTo("CIFAR-10 batches in " + directory);
    Examples train = files.train();
    assertThat(train.count()).isEqualTo(15);
    assertThat(train.labels()).containsExactly(1, 2, 3, 2, 3, 4, 3, 4, 5, 4, 5, 6, 5, 6, 7);
    byte[] fourth = batch(3, 2);
    for (int i = 0; i < PICTURE; i++) {
      assertThat(train.values()[3 * PICTURE + i]).isEqualTo(fourth[1 + i]);
    }
    assertThat(files.test().labels()).containsExactly(9, 0);
  }

  @Test
  void foldersOfImagesAreReadInTheOrderOfTheirNamesAsPlanes() throws IOException {
    folders();
    var files = new CifarFiles(directory);
    files.check();
    assertThat(files.name()).isEqualTo("CIFAR-10 images in " + directory);
    Examples train = files.train();
    assertThat(train.count()).isEqualTo(20);
    assertThat(train.labels()).startsWith(0, 0, 1, 1).endsWith(9, 9);
    int at = 3 * PICTURE; // class1/b.png
    assertThat(train.values()[at + 5 * 32 + 7]).isEqualTo((byte) 7);
    assertThat(train.values()[at + 1024 + 5 * 32 + 7]).isEqualTo((byte) 5);
    assertThat(train.values()[at + 2048 + 5 * 32 + 7]).isEqualTo((byte) 1);
    assertThat(train.values()[2 * PICTURE + 2048]).isEqualTo((byte) 101);
  }

  @Test
  void missingAndMalformedBatchesAreNamed() throws IOException {
    assertThatThrownBy(() -> new CifarFiles(directory).check())
        .isInstanceOf(DataException.Missing.class)
        .hasMessageContaining("data_batch_1.bin");
    batches();
    Files.write(directory.resolve("data_batch_3.bin"), new byte[5000]);
    assertThatThrownBy(() -> new CifarFiles(directory).train())
        .isInstanceOf(DataException.Malformed.class)
        .hasMessageContaining("data_batch_3.bin")
        .hasMessageContaining("records of 3073 bytes, found 5000 bytes");
    byte[] wrong = batch(3, 1);
    wrong[1 + PICTURE] = 77;
    Files.write(directory.resolve("data_batch_3.bin"), wrong);
    assertThatThrownBy(() -> new CifarFiles(directory).train())
        .hasMessageContaining("labels 0 to 9, found 77 of record 1");
  }

  @Test
  void imagesOfAnotherSizeAndOtherClassesAreRefused() throws IOException {
    folders();
    Path image = directory.resolve("train/class4/b.png");
    ImageIO.write(image(4, 31), "png", image.toFile());
    assertThatThrownBy(() -> new CifarFiles(directory).train())
        .isInstanceOf(DataException.Malformed.class)
        .hasMessageContaining("b.png: expected an image of 32x32 pixels, found 31x31");
    Files.writeString(image, "text");
    assertThatThrownBy(() -> new CifarFiles(directory).train())
        .hasMessageContaining("b.png: expected an image, found something else");
    Files.move(directory.resolve("test/class9"), directory.resolve("test/other"));
    assertThatThrownBy(() -> new CifarFiles(directory).check())
        .hasMessageContaining("the classes of train, [class0,");
  }

  @Test
  void syntheticPicturesAreTheSameForASeedAndHaveAllClasses() {
    var pictures = new SyntheticPictures(3, 200, 50);
    assertThat(pictures.train()).isEqualTo(new SyntheticPictures(3, 200, 50).train());
    assertThat(pictures.train()).isNotEqualTo(new SyntheticPictures(4, 200, 50).train());
    assertThat(pictures.test().labels()).contains(0, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  }
}
