// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.pictures;

import io.weft.workloads.data.DataFile;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.ReadProgress;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/// A reader of the binary version of CIFAR-10. A record has one byte of label and 3,072 bytes of
/// pixels: a red, a green and a blue plane.
final class BinaryBatches {

  private static final int BATCHES = 5;
  private static final int RECORD = 1 + CifarFiles.PICTURE;

  /// The records of a batch; a longer file is rejected.
  private static final int MOST = 10_000;

  private BinaryBatches() {}

  static void check(Path directory) {
    List<DataFile> files = trainFiles(directory);
    files.add(testFile(directory));
    for (DataFile file : files) {
      try (InputStream in = file.open()) {
        int label = in.read();
        requireLabel(file, label, 0);
      } catch (IOException e) {
        throw file.unreadable(e);
      }
    }
  }

  static Examples train(Path directory, ReadProgress progress) {
    return join(trainFiles(directory), progress);
  }

  static Examples test(Path directory, ReadProgress progress) {
    return join(List.of(testFile(directory)), progress);
  }

  /// Returns whether no file is compressed, so that a part can be read by itself.
  static boolean isPlain(Path directory) {
    return !testFile(directory).isCompressed()
        && trainFiles(directory).stream().noneMatch(DataFile::isCompressed);
  }

  /// Returns one of several nearly equal parts of the training records of plain files.
  static Examples train(Path directory, int part, int parts) {
    return part(trainFiles(directory), part, parts);
  }

  /// Returns one of several nearly equal parts of the test records of a plain file.
  static Examples test(Path directory, int part, int parts) {
    return part(List.of(testFile(directory)), part, parts);
  }

  private static Examples part(List<DataFile> files, int part, int parts) {
    long[] counts = new long[files.size()];
    long all = 0;
    for (int i = 0; i < counts.length; i++) {
      counts[i] = count(files.get(i));
      all += counts[i];
    }
    long from = all * part / parts;
    long to = all * (part + 1) / parts;
    List<byte[]> batches = new ArrayList<>();
    long before = 0;
    for (int i = 0; i < counts.length; i++) {
      DataFile file = files.get(i);
      long first = Math.max(from, before) - before;
      long end = Math.min(to, before + counts[i]) - before;
      if (first < end) {
        batches.add(file.within(() -> records(file, first, end)));
      }
      before += counts[i];
    }
    return joined(batches);
  }

  /// Returns the number of records of a plain file.
  private static long count(DataFile file) {
    try {
      long size = Files.size(file.path());
      requireLength(file, size);
      return size / RECORD;
    } catch (IOException e) {
      throw file.unreadable(e);
    }
  }

  private static void requireLength(DataFile file, long bytes) {
    if (bytes == 0 || bytes % RECORD != 0 || bytes > (long) MOST * RECORD) {
      throw file.malformed("1 to " + MOST + " records of " + RECORD + " bytes", bytes + " bytes");
    }
  }

  private static byte[] records(DataFile file, long first, long end) {
    try (InputStream in = file.open()) {
      in.skipNBytes(first * RECORD);
      byte[] some = in.readNBytes((int) (end - first) * RECORD);
      for (int i = 0; i < some.length / RECORD; i++) {
        requireLabel(file, some[i * RECORD] & 0xff, (int) first + i);
      }
      return some;
    } catch (IOException e) {
      throw file.unreadable(e);
    }
  }

  private static List<DataFile> trainFiles(Path directory) {
    List<DataFile> files = new ArrayList<>();
    for (int i = 1; i <= BATCHES; i++) {
      files.add(find(directory, "data_batch_" + i + ".bin"));
    }
    return files;
  }

  private static DataFile testFile(Path directory) {
    return find(directory, "test_batch.bin");
  }

  private static DataFile find(Path directory, String name) {
    return DataFile.find(directory, List.of(name), CifarFiles.REMEDY);
  }

  private static Examples join(List<DataFile> files, ReadProgress progress) {
    List<byte[]> batches = new ArrayList<>();
    for (DataFile file : files) {
      progress.at(batches.size(), files.size(), "files");
      batches.add(file.within(() -> records(file)));
    }
    return joined(batches);
  }

  private static Examples joined(List<byte[]> batches) {
    int count = batches.stream().mapToInt(batch -> batch.length / RECORD).sum();
    byte[] values = new byte[Math.multiplyExact(count, CifarFiles.PICTURE)];
    byte[] labels = new byte[count];
    int at = 0;
    for (byte[] batch : batches) {
      for (int from = 0; from < batch.length; from += RECORD) {
        labels[at] = batch[from];
        System.arraycopy(batch, from + 1, values, at * CifarFiles.PICTURE, CifarFiles.PICTURE);
        at++;
      }
    }
    return new Examples(CifarFiles.PICTURE, CifarFiles.CLASSES, 1f / 255, values, labels);
  }

  private static byte[] records(DataFile file) {
    try (InputStream in = file.open()) {
      byte[] all = in.readNBytes(MOST * RECORD + 1);
      requireLength(file, all.length);
      for (int i = 0; i < all.length / RECORD; i++) {
        requireLabel(file, all[i * RECORD] & 0xff, i);
      }
      return all;
    } catch (IOException e) {
      throw file.unreadable(e);
    }
  }

  private static void requireLabel(DataFile file, int label, int record) {
    if (label < 0 || label >= CifarFiles.CLASSES) {
      throw file.malformed(
          "labels 0 to 9", label < 0 ? "an empty file" : label + " of record " + record);
    }
  }
}
