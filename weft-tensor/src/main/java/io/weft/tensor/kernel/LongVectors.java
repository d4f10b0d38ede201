// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static io.weft.tensor.DType.INT64;
import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.weft.tensor.ReduceOp;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.LongVector;
import jdk.incubator.vector.VectorSpecies;

/// INT64 on vectors. Each operation has its own loop, because the JIT does not vectorise a loop
/// whose operation is a variable.
final class LongVectors {

  private static final VectorSpecies<Long> SPECIES = LongVector.SPECIES_PREFERRED;
  private static final long STEP = SPECIES.vectorByteSize();

  private LongVectors() {}

  static ReduceKernel reducer(ReduceOp op) {
    return switch (op) {
      case SUM, AVERAGE -> LongVectors::sum;
      case MIN -> LongVectors::min;
      case MAX -> LongVectors::max;
      case PRODUCT -> LongVectors::product;
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
    long bytes = Runs.bytes(INT64, into, at, left, p, right, q, elements);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      store(into, at + i, load(left, p + i).add(load(right, q + i)));
    }
    ScalarKernels.reduce(INT64, ReduceOp.SUM, into, at + i, left, p + i, right, q + i, bytes - i);
  }

  private static void min(
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(INT64, into, at, left, p, right, q, elements);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      store(into, at + i, load(left, p + i).min(load(right, q + i)));
    }
    ScalarKernels.reduce(INT64, ReduceOp.MIN, into, at + i, left, p + i, right, q + i, bytes - i);
  }

  private static void max(
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(INT64, into, at, left, p, right, q, elements);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      store(into, at + i, load(left, p + i).max(load(right, q + i)));
    }
    ScalarKernels.reduce(INT64, ReduceOp.MAX, into, at + i, left, p + i, right, q + i, bytes - i);
  }

  private static void product(
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(INT64, into, at, left, p, right, q, elements);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      store(into, at + i, load(left, p + i).mul(load(right, q + i)));
    }
    ScalarKernels.reduce(
        INT64, ReduceOp.PRODUCT, into, at + i, left, p + i, right, q + i, bytes - i);
  }

  private static LongVector load(MemorySegment data, long offset) {
    return LongVector.fromMemorySegment(SPECIES, Runs.in(data), offset, LITTLE_ENDIAN);
  }

  private static void store(MemorySegment data, long offset, LongVector values) {
    values.intoMemorySegment(Runs.in(data), offset, LITTLE_ENDIAN);
  }
}
