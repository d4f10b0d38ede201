// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static io.weft.tensor.DType.FLOAT64;
import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.weft.tensor.ReduceOp;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.DoubleVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/// Binary64 on vectors. Each operation has its own loop, because the JIT does not vectorise a loop
/// whose operation is a variable.
final class DoubleVectors {

  private static final VectorSpecies<Double> SPECIES = DoubleVector.SPECIES_PREFERRED;
  private static final long STEP = SPECIES.vectorByteSize();

  private DoubleVectors() {}

  static ReduceKernel reducer(ReduceOp op) {
    return switch (op) {
      case SUM, AVERAGE -> DoubleVectors::sum;
      case MIN -> DoubleVectors::min;
      case MAX -> DoubleVectors::max;
      case PRODUCT -> DoubleVectors::product;
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
    long bytes = Runs.bytes(FLOAT64, into, at, left, p, right, q, elements);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      store(into, at + i, load(left, p + i).add(load(right, q + i)));
    }
    ScalarKernels.reduce(FLOAT64, ReduceOp.SUM, into, at + i, left, p + i, right, q + i, bytes - i);
  }

  private static void min(
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(FLOAT64, into, at, left, p, right, q, elements);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      store(into, at + i, load(left, p + i).min(load(right, q + i)));
    }
    ScalarKernels.reduce(FLOAT64, ReduceOp.MIN, into, at + i, left, p + i, right, q + i, bytes - i);
  }

  private static void max(
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(FLOAT64, into, at, left, p, right, q, elements);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      store(into, at + i, load(left, p + i).max(load(right, q + i)));
    }
    ScalarKernels.reduce(FLOAT64, ReduceOp.MAX, into, at + i, left, p + i, right, q + i, bytes - i);
  }

  private static void product(
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(FLOAT64, into, at, left, p, right, q, elements);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      store(into, at + i, load(left, p + i).mul(load(right, q + i)));
    }
    ScalarKernels.reduce(
        FLOAT64, ReduceOp.PRODUCT, into, at + i, left, p + i, right, q + i, bytes - i);
  }

  static void divide(MemorySegment data, long p, long elements, int divisor) {
    long bytes = Runs.bytes(FLOAT64, data, p, elements);
    DoubleVector divisors = DoubleVector.broadcast(SPECIES, (double) divisor);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      store(data, p + i, load(data, p + i).div(divisors));
    }
    ScalarKernels.divide(FLOAT64, data, p + i, bytes - i, divisor);
  }

  /// Returns the values, with every NaN replaced by the canonical NaN.
  private static DoubleVector canonical(DoubleVector values) {
    return values.blend(Double.NaN, values.compare(VectorOperators.NE, values));
  }

  private static DoubleVector load(MemorySegment data, long offset) {
    return DoubleVector.fromMemorySegment(SPECIES, Runs.in(data), offset, LITTLE_ENDIAN);
  }

  private static void store(MemorySegment data, long offset, DoubleVector values) {
    canonical(values).intoMemorySegment(Runs.in(data), offset, LITTLE_ENDIAN);
  }
}
