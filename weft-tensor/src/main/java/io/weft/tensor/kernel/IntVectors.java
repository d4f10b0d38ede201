// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static io.weft.tensor.DType.INT32;
import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.weft.tensor.ReduceOp;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.IntVector;
import jdk.incubator.vector.VectorSpecies;

/// INT32 on vectors. Each operation has its own loop, because the JIT does not vectorise a loop
/// whose operation is a variable.
final class IntVectors {

  private static final VectorSpecies<Integer> SPECIES = IntVector.SPECIES_PREFERRED;
  private static final long STEP = SPECIES.vectorByteSize();

  private IntVectors() {}

  static ReduceKernel reducer(ReduceOp op) {
    return switch (op) {
      case SUM, AVERAGE -> IntVectors::sum;
      case MIN -> IntVectors::min;
      case MAX -> IntVectors::max;
      case PRODUCT -> IntVectors::product;
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
    long bytes = Runs.bytes(INT32, into, at, left, p, right, q, elements);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      store(into, at + i, load(left, p + i).add(load(right, q + i)));
    }
    ScalarKernels.reduce(INT32, ReduceOp.SUM, into, at + i, left, p + i, right, q + i, bytes - i);
  }

  private static void min(
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(INT32, into, at, left, p, right, q, elements);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      store(into, at + i, load(left, p + i).min(load(right, q + i)));
    }
    ScalarKernels.reduce(INT32, ReduceOp.MIN, into, at + i, left, p + i, right, q + i, bytes - i);
  }

  private static void max(
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(INT32, into, at, left, p, right, q, elements);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      store(into, at + i, load(left, p + i).max(load(right, q + i)));
    }
    ScalarKernels.reduce(INT32, ReduceOp.MAX, into, at + i, left, p + i, right, q + i, bytes - i);
  }

  private static void product(
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(INT32, into, at, left, p, right, q, elements);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      store(into, at + i, load(left, p + i).mul(load(right, q + i)));
    }
    ScalarKernels.reduce(
        INT32, ReduceOp.PRODUCT, into, at + i, left, p + i, right, q + i, bytes - i);
  }

  private static IntVector load(MemorySegment data, long offset) {
    return IntVector.fromMemorySegment(SPECIES, Runs.in(data), offset, LITTLE_ENDIAN);
  }

  private static void store(MemorySegment data, long offset, IntVector values) {
    values.intoMemorySegment(Runs.in(data), offset, LITTLE_ENDIAN);
  }
}
