// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import io.weft.qa.fuzz.FuzzTarget;
import io.weft.qa.fuzz.ScratchFile;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.List;
import java.util.zip.GZIPOutputStream;

/// The reader of a file of images or labels, with or without gzip.
public final class IdxTarget implements FuzzTarget {

  private final ScratchFile file = new ScratchFile();

  /// For the fuzzer.
  public IdxTarget() {}

  @Override
  public String name() {
    return "idx";
  }

  @Override
  public List<byte[]> seeds() {
    byte[] labels = {0, 0, 8, 1, 0, 0, 0, 3, 7, 0, 9};
    byte[] images = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 1, 1, 2, 3, 4};
    return List.of(labels, images, gzip(labels));
  }

  private static byte[] gzip(byte[] bytes) {
    var out = new ByteArrayOutputStream();
    try (var gzip = new GZIPOutputStream(out)) {
      gzip.write(bytes);
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
    return out.toByteArray();
  }

  @Override
  public void decode(byte[] input) throws IOException {
    var data = new DataFile(file.with(input), "remedy");
    for (int dimensions : new int[] {1, 3}) {
      try {
        List<Integer> extents = Idx.header(data, dimensions);
        byte[] elements = Idx.elements(data, extents.subList(1, dimensions));
        long expected = extents.stream().mapToLong(Integer::longValue).reduce(1, (a, b) -> a * b);
        if (elements.length != expected) {
          throw new AssertionError(elements.length + " elements for extents " + extents);
        }
      } catch (DataException refused) {
        DataReports.check(refused);
      }
    }
  }
}
