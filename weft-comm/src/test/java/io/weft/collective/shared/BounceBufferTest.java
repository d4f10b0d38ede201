// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.shared;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.transport.MemoryRegion;
import io.weft.transport.region.RegionTable;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BounceBufferTest {

  private static final int MEMBERS = 3;
  private static final int ELEMENTS = 1_300_001;

  /// Slices are longer than what is copied at once, so that one arrives while another is copied.
  @ParameterizedTest
  @ValueSource(strings = {"012", "120", "201", "210", "102", "021"})
  void slicesThatArriveWhileAnotherIsCopiedAreCopiedWhole(String order) {
    try (MemoryRegion window = new RegionTable("test").allocate(4L * ELEMENTS)) {
      MemorySegment output = Arena.ofAuto().allocate(4L * ELEMENTS, 64);
      var sum = MappedReduceStage.Arithmetic.of(DType.INT32, ReduceOp.SUM, 1);
      MappedReduceStage stage =
          MappedReduceStage.allreduce(
              Arena.ofAuto().allocate(4L * ELEMENTS, 64), output, sum, MEMBERS);
      var bounceBuffer = new BounceBuffer(stage, window, 0);
      for (int i = 0; i < ELEMENTS; i++) {
        window.segment().setAtIndex(ValueLayout.JAVA_INT, i, i + 1);
      }
      for (int member : List.of(0, 1, 2)) {
        bounceBuffer.arrived(order.charAt(member) - '0');
        bounceBuffer.take();
      }
      while (!bounceBuffer.isTaken()) {
        bounceBuffer.take();
      }
      assertThat(output.mismatch(window.segment())).isEqualTo(-1);
    }
  }
}
