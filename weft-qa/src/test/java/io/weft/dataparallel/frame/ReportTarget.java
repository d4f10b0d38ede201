// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.frame;

import io.weft.qa.fuzz.FuzzTarget;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import java.util.List;

/// The report that a rank sends to the others during negotiation.
public final class ReportTarget implements FuzzTarget {

  /// Creates the target. The fuzzer calls this constructor by reflection.
  public ReportTarget() {}

  @Override
  public String name() {
    return "rank-report";
  }

  @Override
  public List<byte[]> seeds() {
    var plain =
        new TensorSignature(
            Collective.ALLREDUCE,
            0,
            DType.FLOAT32,
            Shape.of(3, 4),
            ReduceOp.SUM,
            TensorSignature.Scaling.NONE,
            0,
            TensorSignature.Group.NONE);
    var grouped =
        new TensorSignature(
            Collective.ALLREDUCE,
            0,
            DType.INT8,
            Shape.of(),
            ReduceOp.AVERAGE,
            new TensorSignature.Scaling(0.5, 2),
            7,
            new TensorSignature.Group("group", 3));
    var report =
        new RoundReport(
            "grad/dense",
            1234,
            List.of(
                new Announcement.Submitted("a", plain),
                new Announcement.Submitted("\u2603", grouped),
                new Announcement.Expired("b"),
                new Announcement.Joined(),
                new Announcement.Leaving()));
    return List.of(ReportFormat.encode(RoundReport.NONE), ReportFormat.encode(report));
  }

  @Override
  public List<byte[]> dictionary() {
    return FuzzTarget.texts("FLOAT64", "BFLOAT16", "UINT8", "PRODUCT", "MIN");
  }

  @Override
  public void decode(byte[] input) {
    RoundReport report;
    try {
      report = ReportFormat.decode(input);
    } catch (IllegalArgumentException refused) {
      if (refused.getMessage() == null) {
        throw new AssertionError("no message", refused);
      }
      return;
    }
    if (!ReportFormat.decode(ReportFormat.encode(report)).equals(report)) {
      throw new AssertionError("read back differently: " + report);
    }
  }
}
