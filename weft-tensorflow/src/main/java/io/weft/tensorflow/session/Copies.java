// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.tensor.DType;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.TensorViews;
import org.tensorflow.Tensor;
import org.tensorflow.types.TBfloat16;
import org.tensorflow.types.TFloat16;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TFloat64;
import org.tensorflow.types.TInt32;
import org.tensorflow.types.TInt64;
import org.tensorflow.types.TUint8;
import org.tensorflow.types.family.TType;

/// Tensors of TensorFlow Java with copies of what has come from another rank.
final class Copies {

  private Copies() {}

  /// Owned by the caller. Throws `IllegalArgumentException` for int8, of which TensorFlow Java has
  /// no tensors.
  static Tensor of(TensorView view) {
    return TensorViews.copyOf(view, type(view.dtype()));
  }

  private static Class<? extends TType> type(DType dtype) {
    return switch (dtype) {
      case FLOAT16 -> TFloat16.class;
      case BFLOAT16 -> TBfloat16.class;
      case FLOAT32 -> TFloat32.class;
      case FLOAT64 -> TFloat64.class;
      case UINT8 -> TUint8.class;
      case INT32 -> TInt32.class;
      case INT64 -> TInt64.class;
      case INT8 ->
          throw new IllegalArgumentException(
              "TensorFlow Java has no tensors of int8; cast it before it is fetched");
    };
  }
}
