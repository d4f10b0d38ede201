// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.frame;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.dataparallel.frame.Announcement.Expired;
import io.weft.dataparallel.frame.Announcement.Joined;
import io.weft.dataparallel.frame.Announcement.Leaving;
import io.weft.dataparallel.frame.Announcement.Submitted;
import io.weft.dataparallel.frame.Announcement.Withdrawn;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class ReportFormatTest {

  private static final RoundReport FULL =
      new RoundReport(
          "grad/\u2603",
          1234,
          List.of(
              new Submitted("a", Signatures.floats(7)),
              new Submitted(
                  "x".repeat(512),
                  new TensorSignature(
                      Collective.ALLREDUCE,
                      0,
                      DType.INT64,
                      Shape.of(),
                      ReduceOp.AVERAGE,
                      new TensorSignature.Scaling(0.5, 3),
                      -2,
                      new TensorSignature.Group("group", 4))),
              new Submitted(
                  "b",
                  new TensorSignature(
                      Collective.BROADCAST,
                      3,
                      DType.INT8,
                      Shape.of(2, 0),
                      ReduceOp.SUM,
                      TensorSignature.Scaling.NONE,
                      0,
                      TensorSignature.Group.NONE)),
              new Withdrawn("given up", Signatures.floats(3)),
              new Expired("late"),
              new Joined(),
              new Leaving()));

  @Test
  void aReportIsDecodedAsItWasEncoded() {
    assertThat(ReportFormat.decode(ReportFormat.encode(FULL))).isEqualTo(FULL);
    assertThat(ReportFormat.decode(ReportFormat.encode(RoundReport.NONE)))
        .isEqualTo(RoundReport.NONE);
  }

  @Test
  void reportsThatAreTooShortOrTooLongAreRefused() {
    byte[] bytes = ReportFormat.encode(FULL);
    for (int length = 0; length < bytes.length; length++) {
      byte[] part = Arrays.copyOf(bytes, length);
      assertThatThrownBy(() -> ReportFormat.decode(part))
          .as("%d of %d bytes", length, bytes.length)
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> ReportFormat.decode(Arrays.copyOf(bytes, bytes.length + 1)))
        .hasMessageContaining("1 bytes behind its end");
  }

  @Test
  void aCountBeyondTheBytesIsRefusedBeforeAnythingIsAllocated() {
    byte[] bytes = ReportFormat.encode(RoundReport.NONE);
    ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).putInt(11, Integer.MAX_VALUE);
    assertThatThrownBy(() -> ReportFormat.decode(bytes))
        .hasMessageContaining("2147483647 announcements in 0 bytes");
  }

  @Test
  void anotherVersionIsRefused() {
    byte[] bytes = ReportFormat.encode(RoundReport.NONE);
    bytes[0] = 9;
    assertThatThrownBy(() -> ReportFormat.decode(bytes)).hasMessage("version 9, expected 3");
  }
}
