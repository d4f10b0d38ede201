// SPDX-License-Identifier: Apache-2.0
package io.weft.djl;

import io.weft.tensor.DType;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/// The Euclidean norm of several tensors together. The squares are added in FLOAT64 in one order,
/// so that ranks with equal tensors get equal bits, whatever their threads and processors.
final class GradientNorm {

  private GradientNorm() {}

  /// Returns the norm of floating tensors.
  static double of(List<TensorView> tensors) {
    double sum = 0;
    for (TensorView each : tensors) {
      sum += each.dtype() == DType.FLOAT32 ? floats(each) : others(each);
    }
    return Math.sqrt(sum);
  }

  /// Returns the sum of the squares in four independent chains of additions.
  private static double floats(TensorView of) {
    MemorySegment data = of.data();
    long elements = of.shape().elements();
    double a = 0;
    double b = 0;
    double c = 0;
    double d = 0;
    long i = 0;
    for (; i + 4 <= elements; i += 4) {
      a += square(data.getAtIndex(ValueLayout.JAVA_FLOAT, i));
      b += square(data.getAtIndex(ValueLayout.JAVA_FLOAT, i + 1));
      c += square(data.getAtIndex(ValueLayout.JAVA_FLOAT, i + 2));
      d += square(data.getAtIndex(ValueLayout.JAVA_FLOAT, i + 3));
    }
    for (; i < elements; i++) {
      a += square(data.getAtIndex(ValueLayout.JAVA_FLOAT, i));
    }
    return (a + b) + (c + d);
  }

  private static double others(TensorView of) {
    MemorySegment data = of.data();
    double sum = 0;
    for (long i = 0; i < of.shape().elements(); i++) {
      sum +=
          square(
              switch (of.dtype()) {
                case FLOAT64 -> data.getAtIndex(ValueLayout.JAVA_DOUBLE, i);
                case FLOAT16 -> Float.float16ToFloat(data.getAtIndex(ValueLayout.JAVA_SHORT, i));
                case BFLOAT16 ->
                    Float.intBitsToFloat(data.getAtIndex(ValueLayout.JAVA_SHORT, i) << Short.SIZE);
                default -> throw new IllegalArgumentException("the norm of " + of.signature());
              });
    }
    return sum;
  }

  private static double square(double value) {
    return value * value;
  }
}
