// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;

/// A reader of the IDX format of unsigned bytes. A file has two zero bytes, type 0x08, the number
/// of dimensions, each extent as a big-endian 32-bit number, and then the elements.
final class Idx {

  /// The limit on elements, far above every published data set.
  private static final long MAX_BYTES = 1L << 30;

  private static final int TYPE_UNSIGNED_BYTE = 0x08;
  private static final int CHUNK = 1 << 20;

  private Idx() {}

  /// Returns the extents in the header.
  static List<Integer> header(DataFile file, int dimensions) {
    try (InputStream in = file.open()) {
      return header(file, in, dimensions);
    } catch (IOException e) {
      throw file.unreadable(e);
    }
  }

  /// Returns the elements, whose extents after the first must be `row`. Memory is allocated as
  /// bytes arrive, so that a false header does not cost memory.
  static byte[] elements(DataFile file, List<Integer> row) {
    return file.within(() -> read(file, row));
  }

  /// Returns the elements of one of several nearly equal parts of the rows of a plain file. No
  /// other elements are read.
  static byte[] part(DataFile file, List<Integer> row, int part, int parts) {
    return file.within(
        () -> {
          try (InputStream in = file.open()) {
            List<Integer> extents = rows(file, in, row);
            long all = bytes(file, extents);
            long found = Files.size(file.path()) - 4L * (extents.size() + 1);
            if (found != all) {
              throw wrongLength(file, extents, all, found);
            }
            long each = all / extents.getFirst();
            long from = (long) extents.getFirst() * part / parts * each;
            long to = (long) extents.getFirst() * (part + 1) / parts * each;
            in.skipNBytes(from);
            return in.readNBytes((int) (to - from));
          } catch (IOException e) {
            throw file.unreadable(e);
          }
        });
  }

  private static List<Integer> rows(DataFile file, InputStream in, List<Integer> row)
      throws IOException {
    List<Integer> extents = header(file, in, row.size() + 1);
    if (!extents.subList(1, extents.size()).equals(row)) {
      throw file.malformed("extents [count]" + row, "extents " + extents);
    }
    return extents;
  }

  private static DataException wrongLength(
      DataFile file, List<Integer> extents, long expected, long found) {
    return found > expected
        ? file.malformed(expected + " bytes after the header", "more")
        : file.malformed(
            expected + " bytes after the header, as its extents " + extents + " say",
            "only " + found + " (truncated)");
  }

  private static byte[] read(DataFile file, List<Integer> row) {
    try (InputStream in = file.open()) {
      List<Integer> extents = rows(file, in, row);
      long expected = bytes(file, extents);
      byte[] data = new byte[(int) Math.min(expected, CHUNK)];
      int filled = 0;
      while (filled < expected) {
        if (filled == data.length) {
          data = java.util.Arrays.copyOf(data, (int) Math.min(expected, 2L * data.length));
        }
        int n = in.read(data, filled, data.length - filled);
        if (n < 0) {
          throw wrongLength(file, extents, expected, filled);
        }
        filled += n;
      }
      if (in.read() >= 0) {
        throw wrongLength(file, extents, expected, expected + 1);
      }
      return data;
    } catch (IOException e) {
      throw file.unreadable(e);
    }
  }

  private static List<Integer> header(DataFile file, InputStream in, int dimensions)
      throws IOException {
    byte[] magic = in.readNBytes(4);
    if (magic.length < 4) {
      throw file.malformed("an IDX header", "a file of " + magic.length + " bytes");
    }
    if (magic[0] != 0
        || magic[1] != 0
        || magic[2] != TYPE_UNSIGNED_BYTE
        || magic[3] != dimensions) {
      throw file.malformed(
          "IDX magic number 0x%08x (unsigned bytes, %d dimensions)"
              .formatted(TYPE_UNSIGNED_BYTE << 8 | dimensions, dimensions),
          "0x%08x".formatted(bigEndian(magic, 0)));
    }
    byte[] numbers = in.readNBytes(4 * dimensions);
    if (numbers.length < 4 * dimensions) {
      throw file.malformed(dimensions + " extents in the header", "the end of the file");
    }
    var extents = new ArrayList<Integer>();
    for (int d = 0; d < dimensions; d++) {
      int extent = bigEndian(numbers, 4 * d);
      if (extent < 1) {
        throw file.malformed(
            "extents of 1 and more in the header", Integer.toUnsignedString(extent));
      }
      extents.add(extent);
    }
    long ignored = bytes(file, extents);
    return extents;
  }

  private static long bytes(DataFile file, List<Integer> extents) {
    long bytes = 1;
    for (int extent : extents) {
      bytes *= extent;
      if (bytes > MAX_BYTES) {
        throw file.malformed("at most " + MAX_BYTES + " bytes", "a header with extents " + extents);
      }
    }
    return bytes;
  }

  private static int bigEndian(byte[] bytes, int at) {
    return (bytes[at] & 0xff) << 24
        | (bytes[at + 1] & 0xff) << 16
        | (bytes[at + 2] & 0xff) << 8
        | (bytes[at + 3] & 0xff);
  }
}
