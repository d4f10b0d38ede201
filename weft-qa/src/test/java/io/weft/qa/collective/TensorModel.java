// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.collective;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_DOUBLE_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.Kernels;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/// The straightforward model, which computes with one `double` or `long` at a time.
final class TensorModel {

  private TensorModel() {}

  /// Returns a tensor of random values, which are small, so that products of eight ranks stay in
  /// range.
  static OwnedTensor random(DType dtype, Shape shape, SplittableRandom random) {
    OwnedTensor tensor = OwnedTensor.allocate(dtype, shape);
    for (long i = 0; i < shape.elements(); i++) {
      set(
          tensor.view(),
          i,
          dtype.floating()
              ? 0.5 + random.nextDouble()
              : random.nextInt(dtype == DType.INT64 ? 64 : 256));
    }
    return tensor;
  }

  /// Combines the tensors of all ranks of a host in their tree, by the kernels that define the
  /// bits. With p the largest power of two up to n, rank 2i + 1 combines with rank 2i for i < n -
  /// p. Then neighbors of the p remaining ranks combine until one remains.
  ///
  /// @param tensor creates a tensor for each rank
  static OwnedTensor inOrder(DType dtype, ReduceOp op, int size, IntFunction<OwnedTensor> tensor) {
    List<OwnedTensor> all = new ArrayList<>();
    int active = Integer.highestOneBit(size);
    for (int rank = 0; rank < size; rank++) {
      OwnedTensor own = tensor.apply(rank);
      if (rank % 2 == 1 && rank < 2 * (size - active)) {
        add(dtype, op, own, all.removeLast());
      }
      all.add(own);
    }
    while (all.size() > 1) {
      for (int i = 0; i + 1 < all.size(); i++) {
        add(dtype, op, all.get(i), all.remove(i + 1));
      }
    }
    OwnedTensor sum = all.getFirst();
    if (op == ReduceOp.AVERAGE) {
      TensorView view = sum.view();
      Kernels.divide(dtype, view.data(), 0, view.shape().elements(), size);
    }
    return sum;
  }

  /// Adds `other` and closes it.
  private static void add(DType dtype, ReduceOp op, OwnedTensor sum, OwnedTensor other) {
    try (other) {
      long elements = sum.view().shape().elements();
      Kernels.reference(dtype, op).reduce(sum.view().data(), 0, other.view().data(), 0, elements);
    }
  }

  /// Returns the combination of all ranks' random tensors, which the first call computes. It is
  /// exact for integers: sums and products are truncated to the type's width after each step, and
  /// those of 64 bits stay below 2^53 by the choice of values.
  static Supplier<double[]> reduced(DType dtype, ReduceOp op, Shape shape, int size, long seed) {
    return new Supplier<>() {
      private double[] result;

      @Override
      public synchronized double[] get() {
        if (result == null) {
          result = compute();
        }
        return result;
      }

      private double[] compute() {
        int elements = (int) shape.elements();
        double[] sum = new double[elements];
        for (int r = 0; r < size; r++) {
          try (OwnedTensor input = random(dtype, shape, new SplittableRandom(seed + r))) {
            for (int i = 0; i < elements; i++) {
              double x =
                  dtype.floating() ? TensorModel.get(input.view(), i) : getLong(input.view(), i);
              sum[i] =
                  r == 0
                      ? x
                      : dtype.floating()
                          ? combine(op, sum[i], x)
                          : combine(dtype, op, (long) sum[i], (long) x);
            }
          }
        }
        if (op == ReduceOp.AVERAGE) {
          for (int i = 0; i < elements; i++) {
            sum[i] = dtype.floating() ? sum[i] / size : (double) ((long) sum[i] / size);
          }
        }
        return sum;
      }
    };
  }

  static double get(TensorView t, long i) {
    return switch (t.dtype()) {
      case FLOAT16 -> Float.float16ToFloat(t.data().get(JAVA_SHORT_UNALIGNED, 2 * i));
      case BFLOAT16 -> Float.intBitsToFloat(t.data().get(JAVA_SHORT_UNALIGNED, 2 * i) << 16);
      case FLOAT32 -> t.data().get(JAVA_FLOAT_UNALIGNED, 4 * i);
      case FLOAT64 -> t.data().get(JAVA_DOUBLE_UNALIGNED, 8 * i);
      default -> throw new IllegalArgumentException(t.signature());
    };
  }

  static long getLong(TensorView t, long i) {
    return switch (t.dtype()) {
      case UINT8 -> t.data().get(JAVA_BYTE, i) & 0xff;
      case INT8 -> t.data().get(JAVA_BYTE, i);
      case INT32 -> t.data().get(JAVA_INT_UNALIGNED, 4 * i);
      case INT64 -> t.data().get(JAVA_LONG_UNALIGNED, 8 * i);
      default -> throw new IllegalArgumentException(t.signature());
    };
  }

  private static void set(TensorView t, long i, double value) {
    switch (t.dtype()) {
      case FLOAT16 ->
          t.data().set(JAVA_SHORT_UNALIGNED, 2 * i, Float.floatToFloat16((float) value));
      case BFLOAT16 ->
          t.data()
              .set(
                  JAVA_SHORT_UNALIGNED, 2 * i, (short) (Float.floatToIntBits((float) value) >> 16));
      case FLOAT32 -> t.data().set(JAVA_FLOAT_UNALIGNED, 4 * i, (float) value);
      case FLOAT64 -> t.data().set(JAVA_DOUBLE_UNALIGNED, 8 * i, value);
      case UINT8, INT8 -> t.data().set(JAVA_BYTE, i, (byte) value);
      case INT32 -> t.data().set(JAVA_INT_UNALIGNED, 4 * i, (int) value);
      case INT64 -> t.data().set(JAVA_LONG_UNALIGNED, 8 * i, (long) value);
    }
  }

  /// Returns the unit roundoff: half the distance from 1 to the next value.
  static double roundoff(DType dtype) {
    return switch (dtype) {
      case FLOAT16 -> 0x1p-11;
      case BFLOAT16 -> 0x1p-8;
      case FLOAT32 -> 0x1p-24;
      case FLOAT64 -> 0x1p-53;
      default -> 0;
    };
  }

  static double combine(ReduceOp op, double a, double b) {
    return switch (op) {
      case SUM, AVERAGE -> a + b;
      case MIN -> Math.min(a, b);
      case MAX -> Math.max(a, b);
      case PRODUCT -> a * b;
    };
  }

  /// Combines two integers in two's complement of the type's width.
  static long combine(DType dtype, ReduceOp op, long a, long b) {
    long exact =
        switch (op) {
          case SUM, AVERAGE -> a + b;
          case MIN -> Math.min(a, b);
          case MAX -> Math.max(a, b);
          case PRODUCT -> a * b;
        };
    return switch (dtype) {
      case UINT8 -> exact & 0xff;
      case INT8 -> (byte) exact;
      case INT32 -> (int) exact;
      default -> exact;
    };
  }
}
