// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.property.Property;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/// Checks that the vector kernels, the tile kernels and the reference compute the same bits.
class KernelAgreementTest {

  private static final KernelSet REFERENCE = new ScalarKernels();
  private static final List<KernelSet> OTHERS = List.of(new VectorKernels(), new TileKernels());

  @Test
  void reducersAgreeBitForBit() {
    Property.check(
        400,
        draw ->
            reducersAgreeBitForBit(
                draw.of(DType.values()),
                draw.of(ReduceOp.values()),
                draw.between(0, 5000),
                draw.between(0, 67),
                draw.between(0, 67),
                draw.seed()));
  }

  private void reducersAgreeBitForBit(
      DType dtype, ReduceOp op, int elements, int intoOffset, int fromOffset, long seed) {
    Random random = new Random(seed);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment into = Samples.of(arena, dtype, intoOffset, elements, random);
      MemorySegment from = Samples.of(arena, dtype, fromOffset, elements, random);
      MemorySegment expected = Samples.copy(arena, into);
      REFERENCE.reducer(dtype, op).reduce(expected, intoOffset, from, fromOffset, elements);
      for (KernelSet kernels : OTHERS) {
        MemorySegment actual = Samples.copy(arena, into);
        kernels.reducer(dtype, op).reduce(actual, intoOffset, from, fromOffset, elements);
        assertThat(expected.mismatch(actual)).as(kernels.description()).isEqualTo(-1);
      }
    }
  }

  @Test
  void combineEqualsCopyThenReduce() {
    Property.check(
        200,
        draw ->
            combineEqualsCopyThenReduce(
                draw.of(DType.values()),
                draw.of(ReduceOp.values()),
                draw.between(0, 5000),
                draw.between(0, 67),
                draw.between(0, 67),
                draw.between(0, 67),
                draw.seed()));
  }

  private void combineEqualsCopyThenReduce(
      DType dtype,
      ReduceOp op,
      int elements,
      int intoOffset,
      int leftOffset,
      int rightOffset,
      long seed) {
    Random random = new Random(seed);
    long bytes = (long) elements * dtype.bytes();
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment left = Samples.of(arena, dtype, leftOffset, elements, random);
      MemorySegment right = Samples.of(arena, dtype, rightOffset, elements, random);
      MemorySegment around = Samples.of(arena, dtype, intoOffset, elements, random);
      MemorySegment expected = Samples.copy(arena, around);
      MemorySegment.copy(left, leftOffset, expected, intoOffset, bytes);
      REFERENCE.reducer(dtype, op).reduce(expected, intoOffset, right, rightOffset, elements);
      for (KernelSet kernels : List.of(REFERENCE, OTHERS.getFirst(), OTHERS.getLast())) {
        ReduceKernel reducer = kernels.reducer(dtype, op);
        MemorySegment actual = Samples.copy(arena, around);
        reducer.combine(actual, intoOffset, left, leftOffset, right, rightOffset, elements);
        assertThat(expected.mismatch(actual)).as(kernels.description()).isEqualTo(-1);
        MemorySegment second = Samples.copy(arena, right);
        reducer.combine(second, rightOffset, left, leftOffset, second, rightOffset, elements);
        assertThat(
                MemorySegment.mismatch(
                    expected,
                    intoOffset,
                    intoOffset + bytes,
                    second,
                    rightOffset,
                    rightOffset + bytes))
            .as(kernels.description() + " into the right operand")
            .isEqualTo(-1);
      }
    }
  }

  @Test
  void runsMayLieOnTheHeap() {
    Property.check(
        200,
        draw ->
            runsMayLieOnTheHeap(
                draw.of(DType.values()),
                draw.of(ReduceOp.values()),
                draw.between(0, 5000),
                draw.between(1, 7),
                draw.seed()));
  }

  private void runsMayLieOnTheHeap(DType dtype, ReduceOp op, int elements, int inHeap, long seed) {
    Random random = new Random(seed);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment left = Samples.of(arena, dtype, 3, elements, random);
      MemorySegment right = Samples.of(arena, dtype, 5, elements, random);
      MemorySegment expected = Samples.copy(arena, left);
      REFERENCE.reducer(dtype, op).reduce(expected, 3, right, 5, elements);
      for (KernelSet kernels : OTHERS) {
        MemorySegment[] runs = new MemorySegment[3];
        for (int run = 0; run < runs.length; run++) {
          MemorySegment holds = run == 2 ? right : left;
          runs[run] =
              (inHeap & 1 << run) == 0
                  ? Samples.copy(arena, holds)
                  : MemorySegment.ofArray(holds.toArray(JAVA_BYTE));
        }
        kernels.reducer(dtype, op).combine(runs[0], 3, runs[1], 3, runs[2], 5, elements);
        assertThat(expected.mismatch(runs[0])).as(kernels.description()).isEqualTo(-1);
        MemorySegment divided = Samples.copy(arena, left);
        REFERENCE.divider(dtype).divide(divided, 3, elements, 3);
        MemorySegment run = MemorySegment.ofArray(left.toArray(JAVA_BYTE));
        kernels.divider(dtype).divide(run, 3, elements, 3);
        assertThat(divided.mismatch(run)).as(kernels.description() + " divides").isEqualTo(-1);
      }
    }
  }

  @Test
  void dividersAgreeBitForBit() {
    Property.check(
        200,
        draw ->
            dividersAgreeBitForBit(
                draw.of(DType.values()),
                draw.between(0, 5000),
                draw.between(0, 67),
                draw.between(1, Integer.MAX_VALUE),
                draw.seed()));
  }

  private void dividersAgreeBitForBit(
      DType dtype, int elements, int offset, int divisor, long seed) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment data = Samples.of(arena, dtype, offset, elements, new Random(seed));
      MemorySegment expected = Samples.copy(arena, data);
      REFERENCE.divider(dtype).divide(expected, offset, elements, divisor);
      for (KernelSet kernels : OTHERS) {
        MemorySegment actual = Samples.copy(arena, data);
        kernels.divider(dtype).divide(actual, offset, elements, divisor);
        assertThat(expected.mismatch(actual)).as(kernels.description()).isEqualTo(-1);
      }
    }
  }

  @Test
  void operandsCommuteBitForBit() {
    Property.check(
        200,
        draw ->
            operandsCommuteBitForBit(
                draw.of(DType.values()), draw.of(ReduceOp.values()), draw.seed()));
  }

  private void operandsCommuteBitForBit(DType dtype, ReduceOp op, long seed) {
    int elements = 1000;
    Random random = new Random(seed);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment a = Samples.of(arena, dtype, 0, elements, random);
      MemorySegment b = Samples.of(arena, dtype, 0, elements, random);
      for (KernelSet kernels : OTHERS) {
        MemorySegment ab = Samples.copy(arena, a);
        MemorySegment ba = Samples.copy(arena, b);
        kernels.reducer(dtype, op).reduce(ab, 0, b, 0, elements);
        kernels.reducer(dtype, op).reduce(ba, 0, a, 0, elements);
        assertThat(ab.mismatch(ba)).as(kernels.description()).isEqualTo(-1);
      }
    }
  }

  @Test
  void cutsDoNotChangeTheResult() {
    Property.check(
        200,
        draw ->
            cutsDoNotChangeTheResult(
                draw.of(DType.values()),
                draw.of(ReduceOp.values()),
                draw.between(0, 1000),
                draw.seed()));
  }

  private void cutsDoNotChangeTheResult(DType dtype, ReduceOp op, int cut, long seed) {
    int elements = 1000;
    Random random = new Random(seed);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment whole = Samples.of(arena, dtype, 0, elements, random);
      MemorySegment from = Samples.of(arena, dtype, 0, elements, random);
      MemorySegment parts = Samples.copy(arena, whole);
      ReduceKernel reducer = Kernels.reducer(dtype, op);
      long at = (long) cut * dtype.bytes();
      reducer.reduce(whole, 0, from, 0, elements);
      reducer.reduce(parts, 0, from, 0, cut);
      reducer.reduce(parts, at, from, at, elements - cut);
      assertThat(whole.mismatch(parts)).isEqualTo(-1);
    }
  }
}
