// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.pictures;

import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.PartReader;
import io.weft.workloads.data.ReadProgress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/// CIFAR-10 in one directory: the binary batches under their standard names, compressed by gzip or
/// not, or the folders `train` and `test` with a folder of images for each class.
///
/// @param directory of the files
public record CifarFiles(Path directory) implements DataSource {

  /// The pixels of a side.
  static final int SIDE = 32;

  /// The bytes of a picture: planes of red, green and blue.
  static final int PICTURE = 3 * SIDE * SIDE;

  /// The number of classes.
  static final int CLASSES = 10;

  /// The place where the files are published.
  static final String REMEDY =
      "CIFAR-10 is the six files data_batch_1.bin to data_batch_5.bin and test_batch.bin of"
          + " https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz, or the folders train and"
          + " test with a folder of images of 32x32 for each of ten classes; without --data the"
          + " workload draws its own pictures";

  private boolean isFolders() {
    return Files.isDirectory(directory.resolve("train"));
  }

  @Override
  public String name() {
    return (isFolders() ? "CIFAR-10 images in " : "CIFAR-10 batches in ") + directory;
  }

  @Override
  public void check() {
    if (isFolders()) {
      ImageFolders.check(directory);
    } else {
      BinaryBatches.check(directory);
    }
  }

  @Override
  public Optional<PartReader> parts() {
    return isFolders() || !BinaryBatches.isPlain(directory)
        ? Optional.empty()
        : Optional.of(new Parts(directory));
  }

  private record Parts(Path directory) implements PartReader {

    @Override
    public Examples train(int part, int parts, ReadProgress progress) {
      return BinaryBatches.train(directory, part, parts);
    }

    @Override
    public Optional<Examples> test(int part, int parts, ReadProgress progress) {
      return Optional.of(BinaryBatches.test(directory, part, parts));
    }
  }

  @Override
  public Examples train(ReadProgress progress) {
    return isFolders()
        ? ImageFolders.read(directory, "train", progress)
        : BinaryBatches.train(directory, progress);
  }

  @Override
  public Examples test(ReadProgress progress) {
    return isFolders()
        ? ImageFolders.read(directory, "test", progress)
        : BinaryBatches.test(directory, progress);
  }
}
