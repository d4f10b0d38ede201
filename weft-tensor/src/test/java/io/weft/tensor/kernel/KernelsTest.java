// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import org.junit.jupiter.api.Test;

class KernelsTest {

  @Test
  void vectorKernelsAreChosenIfTheirModuleIsResolved() {
    assertThat(Kernels.description()).matches("vector \\d+");
  }

  @Test
  void everyTypeAndOperationHasOneReducer() {
    for (DType dtype : DType.values()) {
      for (ReduceOp op : ReduceOp.values()) {
        assertThat(Kernels.reducer(dtype, op)).isSameAs(Kernels.reducer(dtype, op));
      }
    }
  }

  @Test
  void aRunBeyondItsSegmentIsRefusedBeforeAnythingIsWritten() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment into = arena.allocate(JAVA_FLOAT, 100);
      MemorySegment from = arena.allocate(JAVA_FLOAT, 99).fill((byte) 1);
      for (DType dtype : DType.values()) {
        ReduceKernel reducer = Kernels.reducer(dtype, ReduceOp.SUM);
        long elements = 400 / dtype.bytes();
        assertThatThrownBy(() -> reducer.reduce(into, 0, from, 0, elements))
            .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> reducer.reduce(from, 0, into, 0, elements))
            .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> reducer.reduce(into, 0, from, -1, 1))
            .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> reducer.reduce(into, 0, from, 0, -1))
            .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> reducer.reduce(into, 0, from, 0, Long.MAX_VALUE))
            .isInstanceOf(IndexOutOfBoundsException.class);
        assertThatThrownBy(() -> Kernels.divide(dtype, from, 0, elements, 2))
            .isInstanceOf(IndexOutOfBoundsException.class);
      }
      assertThat(into.mismatch(arena.allocate(400))).isEqualTo(-1);
    }
  }

  @Test
  void aDivisorBelowOneIsRefused() {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment data = arena.allocate(4);
      assertThatThrownBy(() -> Kernels.divide(DType.INT32, data, 0, 1, 0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("divide INT32 by 0");
    }
  }
}
