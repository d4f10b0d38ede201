// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static io.weft.tensor.DType.BFLOAT16;
import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.weft.tensor.ReduceOp;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.FloatVector;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/// Bfloat16 on vectors. An int lane holds two elements, the even one in its lower half and the odd
/// one in its upper half. A shift or a mask turns either into a binary32 in place, so elements
/// never change lanes. Each operation has its own loop, as for binary32.
final class BfloatVectors {

  private static final VectorSpecies<Integer> SPECIES = IntVector.SPECIES_PREFERRED;
  private static final long STEP = SPECIES.vectorByteSize();
  private static final int UPPER_HALF = 0xffff0000;

  private BfloatVectors() {}

  static ReduceKernel reducer(ReduceOp op) {
    return switch (op) {
      case SUM, AVERAGE -> BfloatVectors::sum;
      case MIN -> BfloatVectors::min;
      case MAX -> BfloatVectors::max;
      case PRODUCT -> BfloatVectors::product;
    };
  }

  private static void sum(
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(BFLOAT16, into, at, left, p, right, q, elements);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      IntVector a = load(left, p + i);
      IntVector b = load(right, q + i);
      store(into, at + i, even(a).add(even(b)), odd(a).add(odd(b)));
    }
    ScalarKernels.reduce(
        BFLOAT16, ReduceOp.SUM, into, at + i, left, p + i, right, q + i, bytes - i);
  }

  private static void min(
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(BFLOAT16, into, at, left, p, right, q, elements);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      IntVector a = load(left, p + i);
      IntVector b = load(right, q + i);
      store(into, at + i, even(a).min(even(b)), odd(a).min(odd(b)));
    }
    ScalarKernels.reduce(
        BFLOAT16, ReduceOp.MIN, into, at + i, left, p + i, right, q + i, bytes - i);
  }

  private static void max(
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(BFLOAT16, into, at, left, p, right, q, elements);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      IntVector a = load(left, p + i);
      IntVector b = load(right, q + i);
      store(into, at + i, even(a).max(even(b)), odd(a).max(odd(b)));
    }
    ScalarKernels.reduce(
        BFLOAT16, ReduceOp.MAX, into, at + i, left, p + i, right, q + i, bytes - i);
  }

  private static void product(
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(BFLOAT16, into, at, left, p, right, q, elements);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      IntVector a = load(left, p + i);
      IntVector b = load(right, q + i);
      store(into, at + i, even(a).mul(even(b)), odd(a).mul(odd(b)));
    }
    ScalarKernels.reduce(
        BFLOAT16, ReduceOp.PRODUCT, into, at + i, left, p + i, right, q + i, bytes - i);
  }

  static void divide(MemorySegment data, long p, long elements, int divisor) {
    long bytes = Runs.bytes(BFLOAT16, data, p, elements);
    FloatVector divisors = FloatVector.broadcast(FloatVectors.SPECIES, (float) divisor);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      IntVector a = load(data, p + i);
      store(data, p + i, even(a).div(divisors), odd(a).div(divisors));
    }
    ScalarKernels.divide(BFLOAT16, data, p + i, bytes - i, divisor);
  }

  private static FloatVector even(IntVector pairs) {
    return pairs.lanewise(VectorOperators.LSHL, 16).reinterpretAsFloats();
  }

  private static FloatVector odd(IntVector pairs) {
    return pairs.and(UPPER_HALF).reinterpretAsFloats();
  }

  /// Returns binary32 bits whose upper half is the bfloat16 rounded as by
  /// `HalfPrecision.toBfloat16`.
  private static IntVector rounded(FloatVector values) {
    IntVector bits = FloatVectors.canonical(values).reinterpretAsInts();
    return bits.add(bits.lanewise(VectorOperators.LSHR, 16).and(1).add(0x7fff));
  }

  private static IntVector load(MemorySegment data, long offset) {
    return IntVector.fromMemorySegment(SPECIES, Runs.in(data), offset, LITTLE_ENDIAN);
  }

  private static void store(MemorySegment data, long offset, FloatVector even, FloatVector odd) {
    rounded(even)
        .lanewise(VectorOperators.LSHR, 16)
        .or(rounded(odd).and(UPPER_HALF))
        .intoMemorySegment(Runs.in(data), offset, LITTLE_ENDIAN);
  }
}
