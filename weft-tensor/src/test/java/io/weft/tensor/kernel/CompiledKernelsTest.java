// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.management.ManagementFactory;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Checks that kernels compiled by the JIT compute the same results as the reference and allocate
/// nothing.
class CompiledKernelsTest {

  private static final long SEED = Long.getLong("weft.test.seed", System.nanoTime());
  private static final int ELEMENTS = 8001;
  private static final long LIMIT_NANOS = 10_000_000_000L;
  private static final KernelSet REFERENCE = new ScalarKernels();
  private static final List<KernelSet> OTHERS = List.of(new VectorKernels(), new TileKernels());
  private static final ThreadMXBean THREADS = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @ParameterizedTest
  @EnumSource(DType.class)
  void compiledReducersAgreeAndAllocateNothing(DType dtype) {
    for (KernelSet kernels : OTHERS) {
      for (ReduceOp op : EnumSet.complementOf(EnumSet.of(ReduceOp.AVERAGE))) {
        String name = kernels.description() + " " + dtype + " " + op + ", seed " + SEED;
        ReduceKernel reducer = kernels.reducer(dtype, op);
        KernelWarmUp.run(reducer, dtype);
        try (Arena arena = Arena.ofConfined()) {
          Random random = new Random(SEED);
          MemorySegment from = Samples.of(arena, dtype, 0, ELEMENTS, random);
          MemorySegment actual = Samples.of(arena, dtype, 0, ELEMENTS, random);
          MemorySegment expected = Samples.copy(arena, actual);
          reducer.reduce(actual, 0, from, 0, ELEMENTS);
          REFERENCE.reducer(dtype, op).reduce(expected, 0, from, 0, ELEMENTS);
          assertThat(expected.mismatch(actual)).as(name).isEqualTo(-1);
          assertThat(bytesPerCall(() -> reducer.reduce(actual, 0, from, 0, ELEMENTS)))
              .as(name)
              .isZero();
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource(DType.class)
  void compiledDividersAgreeAndAllocateNothing(DType dtype) {
    for (KernelSet kernels : OTHERS) {
      String name = kernels.description() + " " + dtype + ", seed " + SEED;
      Divider divider = kernels.divider(dtype);
      KernelWarmUp.run(divider, dtype);
      try (Arena arena = Arena.ofConfined()) {
        MemorySegment actual = Samples.of(arena, dtype, 0, ELEMENTS, new Random(SEED));
        MemorySegment expected = Samples.copy(arena, actual);
        divider.divide(actual, 0, ELEMENTS, 7);
        REFERENCE.divider(dtype).divide(expected, 0, ELEMENTS, 7);
        assertThat(expected.mismatch(actual)).as(name).isEqualTo(-1);
        assertThat(bytesPerCall(() -> divider.divide(actual, 0, ELEMENTS, 1))).as(name).isZero();
      }
    }
  }

  @Tag("lab")
  @Test
  void afterWarmUpTheMeanOfFloatsAllocatesNothing() {
    Kernels.warmUp();
    ReduceKernel sum = Kernels.reducer(DType.FLOAT32, ReduceOp.SUM);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment into = arena.allocate(4L * ELEMENTS, 64);
      MemorySegment from = arena.allocate(4L * ELEMENTS, 64);
      assertThat(bytesPerCall(() -> sum.reduce(into, 0, from, 0, ELEMENTS))).isZero();
      assertThat(bytesPerCall(() -> Kernels.divide(DType.FLOAT32, into, 0, ELEMENTS, 2))).isZero();
    }
  }

  /// Returns the smallest number of bytes of all rounds, because the JIT may still compile during
  /// the first ones: for seconds, if other processes occupy the cores.
  private static long bytesPerCall(Runnable call) {
    int calls = 100;
    long start = System.nanoTime();
    long least = Long.MAX_VALUE;
    while (least > 0 && System.nanoTime() - start < LIMIT_NANOS) {
      long before = THREADS.getCurrentThreadAllocatedBytes();
      for (int i = 0; i < calls; i++) {
        call.run();
      }
      least = Math.min(least, (THREADS.getCurrentThreadAllocatedBytes() - before) / calls);
    }
    return least;
  }
}
