// SPDX-License-Identifier: Apache-2.0
package io.weft.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;

/// The memory of PyTorch's arrays as tensors, without a copy. An array must be dense, contiguous
/// and in the memory of the processor. A view is valid while PyTorch keeps the array's storage.
final class ArrayMemory {

  private ArrayMemory() {}

  /// Returns the array's memory as a tensor. Throws `IllegalArgumentException` for an array that
  /// Weft cannot use in place.
  ///
  /// @param what the array in words, for messages
  static TensorView of(String what, NDArray array) {
    if (array.getDevice().isGpu()) {
      throw new IllegalArgumentException(
          what
              + " is on "
              + array.getDevice()
              + ", expected on the processor; call TrainingConfig.optDevices(Device.cpu())");
    }
    if (array.isSparse()) {
      throw new IllegalArgumentException(what + " is sparse, expected dense");
    }
    DType type = type(what, array.getDataType());
    long bytes = Math.multiplyExact(array.size(), type.bytes());
    if (bytes > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          what + " has " + bytes + " bytes, expected less than 2 GiB, the limit of DJL's buffers");
    }
    MemorySegment memory = memory(array);
    requireShared(what, array, memory);
    return new TensorView(type, Shape.of(array.getShape().getShape()), memory);
  }

  /// Returns the array's memory. It is PyTorch's only if the array is contiguous.
  static MemorySegment memory(NDArray array) {
    return MemorySegment.ofBuffer(array.toByteBuffer(true));
  }

  /// Returns Weft's type of elements for DJL's.
  static DType type(String what, DataType type) {
    return switch (type) {
      case FLOAT16 -> DType.FLOAT16;
      case BFLOAT16 -> DType.BFLOAT16;
      case FLOAT32 -> DType.FLOAT32;
      case FLOAT64 -> DType.FLOAT64;
      case UINT8 -> DType.UINT8;
      case INT8 -> DType.INT8;
      case INT32 -> DType.INT32;
      case INT64 -> DType.INT64;
      default ->
          throw new IllegalArgumentException(
              what
                  + " is of type "
                  + type
                  + ", expected float16, bfloat16, float32, float64, uint8, int8, int32 or int64");
    };
  }

  /// Throws `IllegalArgumentException` if the memory is a copy, which DJL silently makes of an
  /// array that is not contiguous: changes the first byte in the memory and looks for the change in
  /// the array.
  private static void requireShared(String what, NDArray array, MemorySegment memory) {
    if (memory.byteSize() == 0) {
      return;
    }
    byte before = memory.get(ValueLayout.JAVA_BYTE, 0);
    byte changed = (byte) (before ^ 1);
    memory.set(ValueLayout.JAVA_BYTE, 0, changed);
    boolean isShared;
    try (NDArray flat = array.flatten();
        NDArray first = flat.get("0")) {
      ByteBuffer found = first.toByteBuffer(false);
      isShared = found.get(found.position()) == changed;
    } finally {
      memory.set(ValueLayout.JAVA_BYTE, 0, before);
    }
    if (!isShared) {
      throw new IllegalArgumentException(
          what
              + " is not contiguous in PyTorch's memory, so that ranks cannot exchange it in"
              + " place; duplicate the array before it becomes a parameter");
    }
  }
}
