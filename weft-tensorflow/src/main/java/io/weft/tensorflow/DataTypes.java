// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.tensor.DType;
import org.tensorflow.proto.DataType;

/// The mapping between TensorFlow's element types and Weft's.
public final class DataTypes {

  /// The number of a reference type minus that of its value type [TensorFlow, types.proto].
  private static final int REFERENCE_OFFSET = 100;

  private DataTypes() {}

  /// Returns Weft's type for a TensorFlow type; a reference type counts as its value type. Throws
  /// `IllegalArgumentException` for a type that Weft does not carry.
  public static DType of(DataType type) {
    return switch (value(type)) {
      case DT_HALF -> DType.FLOAT16;
      case DT_BFLOAT16 -> DType.BFLOAT16;
      case DT_FLOAT -> DType.FLOAT32;
      case DT_DOUBLE -> DType.FLOAT64;
      case DT_UINT8 -> DType.UINT8;
      case DT_INT8 -> DType.INT8;
      case DT_INT32 -> DType.INT32;
      case DT_INT64 -> DType.INT64;
      default ->
          throw new IllegalArgumentException(
              "Weft does not carry "
                  + type
                  + "; cast it to half, bfloat16, float, double, uint8, int8, int32 or int64");
    };
  }

  /// Returns TensorFlow's type for a Weft type.
  public static DataType of(DType type) {
    return switch (type) {
      case FLOAT16 -> DataType.DT_HALF;
      case BFLOAT16 -> DataType.DT_BFLOAT16;
      case FLOAT32 -> DataType.DT_FLOAT;
      case FLOAT64 -> DataType.DT_DOUBLE;
      case UINT8 -> DataType.DT_UINT8;
      case INT8 -> DataType.DT_INT8;
      case INT32 -> DataType.DT_INT32;
      case INT64 -> DataType.DT_INT64;
    };
  }

  /// Returns the type itself, or the value type of a reference type.
  public static DataType value(DataType type) {
    if (type == DataType.UNRECOGNIZED || type.getNumber() < REFERENCE_OFFSET) {
      return type;
    }
    return DataType.forNumber(type.getNumber() - REFERENCE_OFFSET);
  }

  /// Returns the reference type of a type.
  public static DataType reference(DataType type) {
    return DataType.forNumber(value(type).getNumber() + REFERENCE_OFFSET);
  }
}
