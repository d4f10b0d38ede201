// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static io.weft.tensor.DType.INT8;
import static io.weft.tensor.DType.UINT8;
import static java.nio.ByteOrder.LITTLE_ENDIAN;

import io.weft.tensor.ReduceOp;
import java.lang.foreign.MemorySegment;
import jdk.incubator.vector.ByteVector;
import jdk.incubator.vector.VectorOperators;
import jdk.incubator.vector.VectorSpecies;

/// INT8 and UINT8 on vectors; sums and products have equal bits in both. Each operation has its own
/// loop, because the JIT does not vectorise a loop whose operation is a variable.
final class ByteVectors {

  private static final VectorSpecies<Byte> SPECIES = ByteVector.SPECIES_PREFERRED;
  private static final long STEP = SPECIES.vectorByteSize();

  private ByteVectors() {}

  static ReduceKernel signed(ReduceOp op) {
    return switch (op) {
      case SUM, AVERAGE -> ByteVectors::sum;
      case MIN -> ByteVectors::min;
      case MAX -> ByteVectors::max;
      case PRODUCT -> ByteVectors::product;
    };
  }

  static ReduceKernel unsigned(ReduceOp op) {
    return switch (op) {
      case SUM, AVERAGE -> ByteVectors::sum;
      case MIN -> ByteVectors::unsignedMin;
      case MAX -> ByteVectors::unsignedMax;
      case PRODUCT -> ByteVectors::product;
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
    long bytes = Runs.bytes(INT8, into, at, left, p, right, q, elements);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      store(into, at + i, load(left, p + i).add(load(right, q + i)));
    }
    ScalarKernels.reduce(INT8, ReduceOp.SUM, into, at + i, left, p + i, right, q + i, bytes - i);
  }

  private static void min(
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(INT8, into, at, left, p, right, q, elements);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      store(into, at + i, load(left, p + i).min(load(right, q + i)));
    }
    ScalarKernels.reduce(INT8, ReduceOp.MIN, into, at + i, left, p + i, right, q + i, bytes - i);
  }

  private static void max(
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(INT8, into, at, left, p, right, q, elements);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      store(into, at + i, load(left, p + i).max(load(right, q + i)));
    }
    ScalarKernels.reduce(INT8, ReduceOp.MAX, into, at + i, left, p + i, right, q + i, bytes - i);
  }

  private static void unsignedMin(
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(UINT8, into, at, left, p, right, q, elements);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      store(into, at + i, load(left, p + i).lanewise(VectorOperators.UMIN, load(right, q + i)));
    }
    ScalarKernels.reduce(UINT8, ReduceOp.MIN, into, at + i, left, p + i, right, q + i, bytes - i);
  }

  private static void unsignedMax(
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(UINT8, into, at, left, p, right, q, elements);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      store(into, at + i, load(left, p + i).lanewise(VectorOperators.UMAX, load(right, q + i)));
    }
    ScalarKernels.reduce(UINT8, ReduceOp.MAX, into, at + i, left, p + i, right, q + i, bytes - i);
  }

  private static void product(
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long elements) {
    long bytes = Runs.bytes(INT8, into, at, left, p, right, q, elements);
    long i = 0;
    for (long whole = bytes - bytes % STEP; i < whole; i += STEP) {
      store(into, at + i, load(left, p + i).mul(load(right, q + i)));
    }
    ScalarKernels.reduce(
        INT8, ReduceOp.PRODUCT, into, at + i, left, p + i, right, q + i, bytes - i);
  }

  private static ByteVector load(MemorySegment data, long offset) {
    return ByteVector.fromMemorySegment(SPECIES, Runs.in(data), offset, LITTLE_ENDIAN);
  }

  private static void store(MemorySegment data, long offset, ByteVector values) {
    values.intoMemorySegment(Runs.in(data), offset, LITTLE_ENDIAN);
  }
}
