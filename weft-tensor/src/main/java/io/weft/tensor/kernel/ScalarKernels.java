// SPDX-License-Identifier: Apache-2.0
package io.weft.tensor.kernel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import java.lang.foreign.MemorySegment;

/// The reference kernels, which process one element at a time. They define the bits that the other
/// kernels must produce, and process the last elements that do not fill a vector.
final class ScalarKernels implements KernelSet {

  @Override
  public String description() {
    return "scalar";
  }

  @Override
  public ReduceKernel reducer(DType dtype, ReduceOp op) {
    return (into, at, left, p, right, q, elements) -> {
      long bytes = Runs.bytes(dtype, into, at, left, p, right, q, elements);
      reduce(dtype, op, into, at, left, p, right, q, bytes);
    };
  }

  @Override
  public Divider divider(DType dtype) {
    return (data, offset, elements, divisor) ->
        divide(dtype, data, offset, Runs.bytes(dtype, data, offset, elements), divisor);
  }

  /// Combines the elements in `bytes` bytes. The caller has checked the bounds.
  static void reduce(
      DType dtype,
      ReduceOp op,
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q,
      long bytes) {
    for (long i = 0; i < bytes; i += dtype.bytes()) {
      reduceOne(dtype, op, into, at + i, left, p + i, right, q + i);
    }
  }

  /// Divides the elements in `bytes` bytes. The caller has checked the bounds.
  static void divide(DType dtype, MemorySegment data, long p, long bytes, int divisor) {
    for (long i = 0; i < bytes; i += dtype.bytes()) {
      quotient(dtype, data, p + i, divisor);
    }
  }

  /// Combines one element; the segments check their bounds.
  static void reduceOne(
      DType dtype,
      ReduceOp op,
      MemorySegment into,
      long at,
      MemorySegment left,
      long p,
      MemorySegment right,
      long q) {
    switch (dtype) {
      case FLOAT16 -> {
        float a = HalfPrecision.fromBinary16(left.get(JAVA_SHORT_UNALIGNED, p));
        float b = HalfPrecision.fromBinary16(right.get(JAVA_SHORT_UNALIGNED, q));
        into.set(JAVA_SHORT_UNALIGNED, at, HalfPrecision.toBinary16(Scalars.combine(op, a, b)));
      }
      case BFLOAT16 -> {
        float a = HalfPrecision.fromBfloat16(left.get(JAVA_SHORT_UNALIGNED, p));
        float b = HalfPrecision.fromBfloat16(right.get(JAVA_SHORT_UNALIGNED, q));
        into.set(JAVA_SHORT_UNALIGNED, at, HalfPrecision.toBfloat16(Scalars.combine(op, a, b)));
      }
      case FLOAT32 -> {
        float a = left.get(JAVA_FLOAT_UNALIGNED, p);
        float b = right.get(JAVA_FLOAT_UNALIGNED, q);
        into.set(JAVA_FLOAT_UNALIGNED, at, Scalars.combine(op, a, b));
      }
      case FLOAT64 -> {
        double a = left.get(JAVA_DOUBLE_UNALIGNED, p);
        double b = right.get(JAVA_DOUBLE_UNALIGNED, q);
        into.set(JAVA_DOUBLE_UNALIGNED, at, Scalars.combine(op, a, b));
      }
      case UINT8 -> {
        long a = Byte.toUnsignedLong(left.get(JAVA_BYTE, p));
        long b = Byte.toUnsignedLong(right.get(JAVA_BYTE, q));
        into.set(JAVA_BYTE, at, (byte) Scalars.combine(op, a, b));
      }
      case INT8 -> {
        long a = left.get(JAVA_BYTE, p);
        long b = right.get(JAVA_BYTE, q);
        into.set(JAVA_BYTE, at, (byte) Scalars.combine(op, a, b));
      }
      case INT32 -> {
        long a = left.get(JAVA_INT_UNALIGNED, p);
        long b = right.get(JAVA_INT_UNALIGNED, q);
        into.set(JAVA_INT_UNALIGNED, at, (int) Scalars.combine(op, a, b));
      }
      case INT64 -> {
        long a = left.get(JAVA_LONG_UNALIGNED, p);
        long b = right.get(JAVA_LONG_UNALIGNED, q);
        into.set(JAVA_LONG_UNALIGNED, at, Scalars.combine(op, a, b));
      }
    }
  }

  private static void quotient(DType dtype, MemorySegment data, long p, int divisor) {
    switch (dtype) {
      case FLOAT16 -> {
        float a = HalfPrecision.fromBinary16(data.get(JAVA_SHORT_UNALIGNED, p));
        data.set(JAVA_SHORT_UNALIGNED, p, HalfPrecision.toBinary16(a / divisor));
      }
      case BFLOAT16 -> {
        float a = HalfPrecision.fromBfloat16(data.get(JAVA_SHORT_UNALIGNED, p));
        data.set(JAVA_SHORT_UNALIGNED, p, HalfPrecision.toBfloat16(a / divisor));
      }
      case FLOAT32 -> {
        float a = data.get(JAVA_FLOAT_UNALIGNED, p);
        data.set(JAVA_FLOAT_UNALIGNED, p, Scalars.canonical(a / divisor));
      }
      case FLOAT64 -> {
        double a = data.get(JAVA_DOUBLE_UNALIGNED, p);
        data.set(JAVA_DOUBLE_UNALIGNED, p, Scalars.canonical(a / divisor));
      }
      case UINT8 ->
          data.set(JAVA_BYTE, p, (byte) (Byte.toUnsignedInt(data.get(JAVA_BYTE, p)) / divisor));
      case INT8 -> data.set(JAVA_BYTE, p, (byte) (data.get(JAVA_BYTE, p) / divisor));
      case INT32 -> data.set(JAVA_INT_UNALIGNED, p, data.get(JAVA_INT_UNALIGNED, p) / divisor);
      case INT64 -> data.set(JAVA_LONG_UNALIGNED, p, data.get(JAVA_LONG_UNALIGNED, p) / divisor);
    }
  }
}
