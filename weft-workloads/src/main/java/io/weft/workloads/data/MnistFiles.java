// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// The four MNIST files in one directory under their standard names, compressed by gzip or not.
///
/// @param directory of the files
public record MnistFiles(Path directory) implements DataSource {

  private static final int SIDE = 28;
  private static final int CLASSES = 10;
  private static final String REMEDY =
      "the four MNIST files (train-images-idx3-ubyte, train-labels-idx1-ubyte,"
          + " t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte, with or without .gz) are at"
          + " https://storage.googleapis.com/cvdf-datasets/mnist/; without --data the workload"
          + " draws its own digits";

  @Override
  public String name() {
    return "MNIST files in " + directory;
  }

  @Override
  public void check() {
    check("train");
    check("t10k");
  }

  @Override
  public Examples train(ReadProgress progress) {
    return read("train", progress);
  }

  @Override
  public Examples test(ReadProgress progress) {
    return read("t10k", progress);
  }

  @Override
  public Optional<PartReader> parts() {
    boolean plain =
        Stream.of(images("train"), labels("train"), images("t10k"), labels("t10k"))
            .noneMatch(DataFile::isCompressed);
    return plain ? Optional.of(new Parts(this)) : Optional.empty();
  }

  private record Parts(MnistFiles files) implements PartReader {

    @Override
    public Examples train(int part, int parts, ReadProgress progress) {
      return files.read("train", part, parts);
    }

    @Override
    public Optional<Examples> test(int part, int parts, ReadProgress progress) {
      return Optional.of(files.read("t10k", part, parts));
    }
  }

  private Examples read(String name, int part, int parts) {
    check(name);
    byte[] answers = Idx.part(labels(name), List.of(), part, parts);
    requireLabels(labels(name), answers);
    byte[] pixels = Idx.part(images(name), List.of(SIDE, SIDE), part, parts);
    return new Examples(SIDE * SIDE, CLASSES, 1f / 255, pixels, answers);
  }

  private DataFile images(String part) {
    return find(part + "-images", "idx3-ubyte");
  }

  private DataFile labels(String part) {
    return find(part + "-labels", "idx1-ubyte");
  }

  private DataFile find(String name, String type) {
    return DataFile.find(directory, List.of(name + "-" + type, name + "." + type), REMEDY);
  }

  private void check(String part) {
    DataFile images = images(part);
    DataFile labels = labels(part);
    List<Integer> extents = Idx.header(images, 3);
    if (!extents.subList(1, 3).equals(List.of(SIDE, SIDE))) {
      throw images.malformed("images of 28x28", "extents " + extents);
    }
    sameCount(images, extents.getFirst(), labels, Idx.header(labels, 1).getFirst());
  }

  private Examples read(String part, ReadProgress progress) {
    DataFile images = images(part);
    DataFile labels = labels(part);
    progress.at(0, 2, "files");
    byte[] answers = Idx.elements(labels, List.of());
    requireLabels(labels, answers);
    progress.at(1, 2, "files");
    byte[] pixels = Idx.elements(images, List.of(SIDE, SIDE));
    sameCount(images, pixels.length / (SIDE * SIDE), labels, answers.length);
    return new Examples(SIDE * SIDE, CLASSES, 1f / 255, pixels, answers);
  }

  private static void requireLabels(DataFile labels, byte[] answers) {
    for (int i = 0; i < answers.length; i++) {
      if (answers[i] < 0 || answers[i] >= CLASSES) {
        throw labels.malformed("labels 0 to 9", (answers[i] & 0xff) + " at position " + i);
      }
    }
  }

  private static void sameCount(DataFile images, int imageCount, DataFile labels, int labelCount) {
    if (imageCount != labelCount) {
      throw labels.malformed(
          imageCount + " labels, one for each image in " + images.path().getFileName(),
          Integer.toString(labelCount));
    }
  }
}
