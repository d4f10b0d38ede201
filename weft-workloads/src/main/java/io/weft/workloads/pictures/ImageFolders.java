// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.pictures;

import io.weft.file.ForeignDirectory;
import io.weft.file.ForeignFile;
import io.weft.workloads.data.DataException;
import io.weft.workloads.data.DataFile;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.ReadProgress;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.imageio.ImageIO;

/// A reader of images of 32x32 pixels in one folder per class. Classes are numbered in the order of
/// the folders' names, and images are read in the order of theirs. PNG, JPEG, GIF and BMP.
final class ImageFolders {

  private static final List<String> ENDINGS = List.of(".png", ".jpg", ".jpeg", ".gif", ".bmp");

  /// The bytes that are read of an image at most; encoded images of 32x32 pixels are far smaller.
  private static final int MOST_BYTES = 1 << 20;

  private ImageFolders() {}

  static void check(Path directory) {
    List<String> train = names(classes(directory.resolve("train")));
    List<String> test = names(classes(directory.resolve("test")));
    if (!train.equals(test)) {
      throw new DataException.Malformed(
          directory.resolve("test"),
          "the classes of train, " + train,
          test.toString(),
          CifarFiles.REMEDY);
    }
  }

  private static List<String> names(List<Path> folders) {
    return folders.stream().map(it -> it.getFileName().toString()).toList();
  }

  static Examples read(Path directory, String part, ReadProgress progress) {
    check(directory);
    List<Path> images = new ArrayList<>();
    List<Integer> labels = new ArrayList<>();
    List<Path> classes = classes(directory.resolve(part));
    for (int label = 0; label < classes.size(); label++) {
      for (Path image : sorted(classes.get(label))) {
        String name = image.getFileName().toString().toLowerCase(Locale.ROOT);
        if (ENDINGS.stream().anyMatch(name::endsWith)) {
          images.add(image);
          labels.add(label);
        }
      }
    }
    if (images.isEmpty()) {
      throw new DataException.Missing(
          "no images in the folders of " + directory.resolve(part) + "; " + CifarFiles.REMEDY);
    }
    byte[] values = new byte[Math.multiplyExact(images.size(), CifarFiles.PICTURE)];
    byte[] answers = new byte[images.size()];
    for (int i = 0; i < answers.length; i++) {
      progress.at(i, answers.length, "files");
      answers[i] = labels.get(i).byteValue();
      planes(images.get(i), values, i * CifarFiles.PICTURE);
    }
    return new Examples(CifarFiles.PICTURE, CifarFiles.CLASSES, 1f / 255, values, answers);
  }

  private static List<Path> classes(Path part) {
    List<Path> folders = sorted(part).stream().filter(Files::isDirectory).toList();
    if (folders.size() != CifarFiles.CLASSES) {
      throw new DataException.Malformed(
          part,
          CifarFiles.CLASSES + " folders, one for each class",
          Integer.toString(folders.size()),
          CifarFiles.REMEDY);
    }
    return folders;
  }

  private static List<Path> sorted(Path folder) {
    try {
      return ForeignDirectory.entries(folder, "*").stream().sorted().toList();
    } catch (IOException e) {
      throw new DataException.Missing(
          "cannot read " + folder + ": " + e + "; " + CifarFiles.REMEDY);
    }
  }

  private static void planes(Path path, byte[] into, int at) {
    var file = new DataFile(path, CifarFiles.REMEDY);
    BufferedImage image;
    try (InputStream in = ForeignFile.named(path).open()) {
      byte[] encoded = in.readNBytes(MOST_BYTES);
      image = ImageIO.read(new ByteArrayInputStream(encoded));
    } catch (IOException e) {
      throw file.unreadable(e);
    }
    if (image == null) {
      throw file.malformed("an image", "something else");
    }
    if (image.getWidth() != CifarFiles.SIDE || image.getHeight() != CifarFiles.SIDE) {
      throw file.malformed("an image of 32x32 pixels", image.getWidth() + "x" + image.getHeight());
    }
    int plane = CifarFiles.SIDE * CifarFiles.SIDE;
    for (int i = 0; i < plane; i++) {
      int rgb = image.getRGB(i % CifarFiles.SIDE, i / CifarFiles.SIDE);
      into[at + i] = (byte) (rgb >> 16);
      into[at + plane + i] = (byte) (rgb >> 8);
      into[at + 2 * plane + i] = (byte) rgb;
    }
  }
}
