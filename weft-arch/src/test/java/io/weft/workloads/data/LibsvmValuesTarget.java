// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import io.weft.qa.fuzz.FuzzTarget;
import java.util.List;

/// The reader of LIBSVM text with values.
public final class LibsvmValuesTarget extends PartedTarget {

  private final LibsvmValues reader = new LibsvmValues(50, 3);

  /// For the fuzzer.
  public LibsvmValuesTarget() {}

  @Override
  public String name() {
    return "libsvm-values";
  }

  @Override
  public List<byte[]> seeds() {
    return FuzzTarget.texts("3 1:-0.25 2:1e-3 50:0.5\r\n1 7:4\n\n2\n1 1:.5");
  }

  @Override
  public List<byte[]> dictionary() {
    return FuzzTarget.texts("\n3 ", " 7:-1.5e38", " 2147483648:1", ":nan", "e+99");
  }

  @Override
  protected Examples read(TextPart part) {
    return reader.read(part, ReadProgress.SILENT);
  }
}
