// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.collisions;

import io.weft.qa.fuzz.FuzzTarget;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.PartedTarget;
import io.weft.workloads.data.ReadProgress;
import io.weft.workloads.data.TextPart;
import java.util.List;

/// The reader of the CSV of collisions.
public final class HiggsCsvTarget extends PartedTarget {

  /// For the fuzzer.
  public HiggsCsvTarget() {}

  @Override
  public String name() {
    return "higgs-csv";
  }

  @Override
  public List<byte[]> seeds() {
    String numbers = ",-6.350818276405334473e-01".repeat(HiggsCsv.FEATURES);
    String line = "1.000000000000000000e+00" + numbers + "\n";
    return FuzzTarget.texts(line + line.replaceFirst("1", "0") + line, "0" + ",1".repeat(28));
  }

  @Override
  public List<byte[]> dictionary() {
    return FuzzTarget.texts("\r\n", ",nan", ",1e39", ",-.5", "2.0,");
  }

  @Override
  protected Examples read(TextPart part) {
    return HiggsCsv.read(part, ReadProgress.SILENT);
  }
}
