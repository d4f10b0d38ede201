// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.placement;

import org.tensorflow.proto.AttrValue;
import org.tensorflow.proto.DataType;
import org.tensorflow.proto.NodeDef;
import org.tensorflow.proto.TensorShapeProto;

/// The sizes of variables in bytes, from their attributes `dtype` and `shape`.
final class VariableSizes {

  private VariableSizes() {}

  /// Throws `IllegalArgumentException`, which names the node, if its shape is not fully known.
  static long bytes(NodeDef variable) {
    AttrValue shape = variable.getAttrOrDefault("shape", AttrValue.getDefaultInstance());
    AttrValue type = variable.getAttrOrDefault("dtype", AttrValue.getDefaultInstance());
    if (!shape.hasShape() || shape.getShape().getUnknownRank()) {
      throw unknown(variable);
    }
    long bytes = elementBytes(type.getType());
    for (TensorShapeProto.Dim dim : shape.getShape().getDimList()) {
      if (dim.getSize() < 0) {
        throw unknown(variable);
      }
      bytes = Math.multiplyExact(bytes, dim.getSize());
    }
    return bytes;
  }

  private static long elementBytes(DataType type) {
    return switch (type) {
      case DT_BOOL, DT_INT8, DT_UINT8, DT_QINT8, DT_QUINT8 -> 1;
      case DT_HALF, DT_BFLOAT16, DT_INT16, DT_UINT16, DT_QINT16, DT_QUINT16 -> 2;
      case DT_DOUBLE, DT_INT64, DT_UINT64, DT_COMPLEX64 -> 8;
      case DT_COMPLEX128 -> 16;
      default -> 4;
    };
  }

  private static IllegalArgumentException unknown(NodeDef variable) {
    return new IllegalArgumentException(
        "variable '%s', a %s, has no fully known shape, so its bytes cannot be balanced; use %s"
            .formatted(variable.getName(), variable.getOp(), VariablePlacement.ROUND_ROBIN));
  }
}
