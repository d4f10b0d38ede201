// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.frame;

import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import org.jspecify.annotations.Nullable;

/// Type and shape of a tensor on the wire.
///
/// @param bytes the total size of its elements
public record TensorSpec(DType dtype, Shape shape, long bytes) {

  /// Maximum number of extents.
  public static final int MAX_RANK = 254;

  /// Maximum length of a signature on the wire, in bytes.
  public static final int MAX_WIRE_BYTES = 2 + Long.BYTES * MAX_RANK;

  /// Returns the signature of this tensor.
  public static TensorSpec of(TensorView tensor) {
    return new TensorSpec(tensor.dtype(), tensor.shape(), tensor.bytes());
  }

  /// Returns the code of the element type on the wire.
  static int code(DType dtype) {
    return switch (dtype) {
      case FLOAT16 -> 0;
      case BFLOAT16 -> 1;
      case FLOAT32 -> 2;
      case FLOAT64 -> 3;
      case UINT8 -> 4;
      case INT8 -> 5;
      case INT32 -> 6;
      case INT64 -> 7;
    };
  }

  /// Returns the element type, or null for an unknown code.
  static @Nullable DType dtype(int code) {
    return switch (code) {
      case 0 -> DType.FLOAT16;
      case 1 -> DType.BFLOAT16;
      case 2 -> DType.FLOAT32;
      case 3 -> DType.FLOAT64;
      case 4 -> DType.UINT8;
      case 5 -> DType.INT8;
      case 6 -> DType.INT32;
      case 7 -> DType.INT64;
      default -> null;
    };
  }

  /// Length of this signature on the wire, in bytes.
  int wireBytes() {
    return 2 + Long.BYTES * shape.dims().size();
  }

  /// `FLOAT32[64, 10]`.
  @Override
  public String toString() {
    return dtype + "" + shape;
  }
}
