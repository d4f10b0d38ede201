// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigInteger;
import java.util.List;
import java.util.function.BinaryOperator;

/// The reference reductions, which process boxed elements sequentially.
final class Reference {

  private Reference() {}

  static byte[] bytes(TensorView view) {
    return view.data().toArray(ValueLayout.JAVA_BYTE);
  }

  static void write(byte[] bytes, TensorView to) {
    to.data().copyFrom(MemorySegment.ofArray(bytes));
  }

  static byte[] reduce(List<TensorView> inputs, ReduceOp op) {
    DType dtype = inputs.getFirst().dtype();
    if (dtype == DType.FLOAT32 && op == ReduceOp.SUM) {
      return sum(inputs);
    }
    int width = dtype.bytes();
    byte[] result = new byte[(int) inputs.getFirst().bytes()];
    MemorySegment out = MemorySegment.ofArray(result);
    for (long at = 0; at < result.length; at += width) {
      long offset = at;
      List<MemorySegment> each = inputs.stream().map(v -> v.data().asSlice(offset, width)).toList();
      if (dtype.floating()) {
        double value = each.stream().map(s -> real(s, dtype)).reduce(reals(op)).orElseThrow();
        write(out, at, dtype, op == ReduceOp.AVERAGE ? value / inputs.size() : value);
      } else {
        BigInteger value =
            each.stream().map(s -> integer(s, dtype)).reduce(integers(op)).orElseThrow();
        BigInteger ranks = BigInteger.valueOf(inputs.size());
        write(out, at, dtype, op == ReduceOp.AVERAGE ? value.divide(ranks) : value);
      }
    }
    return result;
  }

  /// Sums FLOAT32 tensors, which tests use for large sizes.
  private static byte[] sum(List<TensorView> inputs) {
    float[] sum = inputs.getFirst().data().toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
    for (TensorView input : inputs.subList(1, inputs.size())) {
      float[] next = input.data().toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
      for (int i = 0; i < sum.length; i++) {
        sum[i] += next[i];
      }
    }
    return MemorySegment.ofArray(sum).toArray(ValueLayout.JAVA_BYTE);
  }

  private static BinaryOperator<Double> reals(ReduceOp op) {
    return switch (op) {
      case SUM, AVERAGE -> Double::sum;
      case MIN -> Math::min;
      case MAX -> Math::max;
      case PRODUCT -> (a, b) -> a * b;
    };
  }

  private static BinaryOperator<BigInteger> integers(ReduceOp op) {
    return switch (op) {
      case SUM, AVERAGE -> BigInteger::add;
      case MIN -> BigInteger::min;
      case MAX -> BigInteger::max;
      case PRODUCT -> BigInteger::multiply;
    };
  }

  private static double real(MemorySegment at, DType dtype) {
    return switch (dtype) {
      case FLOAT16 -> Float.float16ToFloat(at.get(ValueLayout.JAVA_SHORT_UNALIGNED, 0));
      case BFLOAT16 ->
          Float.intBitsToFloat(at.get(ValueLayout.JAVA_SHORT_UNALIGNED, 0) << Short.SIZE);
      case FLOAT32 -> at.get(ValueLayout.JAVA_FLOAT_UNALIGNED, 0);
      default -> at.get(ValueLayout.JAVA_DOUBLE_UNALIGNED, 0);
    };
  }

  private static BigInteger integer(MemorySegment at, DType dtype) {
    return BigInteger.valueOf(
        switch (dtype) {
          case UINT8 -> Byte.toUnsignedLong(at.get(ValueLayout.JAVA_BYTE, 0));
          case INT8 -> at.get(ValueLayout.JAVA_BYTE, 0);
          case INT32 -> at.get(ValueLayout.JAVA_INT_UNALIGNED, 0);
          default -> at.get(ValueLayout.JAVA_LONG_UNALIGNED, 0);
        });
  }

  /// Writes a value that the type represents exactly. Tests with 16 bits use only such values.
  private static void write(MemorySegment out, long at, DType dtype, double value) {
    float single = (float) value;
    switch (dtype) {
      case FLOAT16 -> out.set(ValueLayout.JAVA_SHORT_UNALIGNED, at, Float.floatToFloat16(single));
      case BFLOAT16 ->
          out.set(
              ValueLayout.JAVA_SHORT_UNALIGNED,
              at,
              (short) (Float.floatToRawIntBits(single) >>> Short.SIZE));
      case FLOAT32 -> out.set(ValueLayout.JAVA_FLOAT_UNALIGNED, at, single);
      default -> out.set(ValueLayout.JAVA_DOUBLE_UNALIGNED, at, value);
    }
  }

  private static void write(MemorySegment out, long at, DType dtype, BigInteger value) {
    switch (dtype) {
      case UINT8, INT8 -> out.set(ValueLayout.JAVA_BYTE, at, value.byteValue());
      case INT32 -> out.set(ValueLayout.JAVA_INT_UNALIGNED, at, value.intValue());
      default -> out.set(ValueLayout.JAVA_LONG_UNALIGNED, at, value.longValue());
    }
  }
}
