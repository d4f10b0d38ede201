// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import io.weft.qa.fuzz.FuzzTarget;
import io.weft.qa.fuzz.ScratchFile;
import java.io.IOException;
import java.util.List;

/// The reader of LIBSVM text.
public final class LibsvmTarget implements FuzzTarget {

  private static final int FEATURES = 123;

  private final ScratchFile file = new ScratchFile();

  /// For the fuzzer.
  public LibsvmTarget() {}

  @Override
  public String name() {
    return "libsvm";
  }

  @Override
  public List<byte[]> seeds() {
    return FuzzTarget.texts("-1 3:1 11:1 123:1.0 \n+1 5:1\r\n\n0\n1 1:1");
  }

  @Override
  public List<byte[]> dictionary() {
    return FuzzTarget.texts("\n+1 ", " 7:1", " 2147483648:1");
  }

  @Override
  public void decode(byte[] input) throws IOException {
    try {
      Examples read = Libsvm.read(new DataFile(file.with(input), "remedy"), FEATURES);
      if (read.count() < 1) {
        throw new AssertionError("a file without rows was accepted");
      }
    } catch (DataException refused) {
      DataReports.check(refused);
    }
  }
}
