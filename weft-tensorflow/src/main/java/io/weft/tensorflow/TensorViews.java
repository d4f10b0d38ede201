// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.ffm.NativeTensor;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import org.tensorflow.Tensor;
import org.tensorflow.ndarray.buffer.DataStorageVisitor;
import org.tensorflow.types.TBfloat16;
import org.tensorflow.types.TFloat16;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TFloat64;
import org.tensorflow.types.TInt32;
import org.tensorflow.types.TInt64;
import org.tensorflow.types.TUint8;
import org.tensorflow.types.family.TType;

/// Weft views of TensorFlow tensors, without a copy, and copies in the other direction.
public final class TensorViews {

  private TensorViews() {}

  /// Returns a readable and writable view of the memory of `tensor`, borrowed until `tensor` is
  /// closed. Throws `IllegalArgumentException` for an element type that Weft does not carry.
  public static TensorView of(Tensor tensor) {
    long bytes = tensor.numBytes();
    MemorySegment data =
        bytes == 0 ? MemorySegment.NULL : tensor.asRawTensor().data().accept(new AsSegment(bytes));
    return new TensorView(
        DataTypes.of(tensor.dataType()), Shape.of(tensor.shape().asArray()), data);
  }

  /// Returns a new tensor with a copy of `view`, owned by the caller. Throws
  /// `IllegalArgumentException` for int8, because TensorFlow Java has no int8 tensors.
  public static Tensor copyOf(TensorView view) {
    return copyOf(view, type(view.dtype()));
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

  /// Returns a new tensor with a copy of `view`, owned by the caller. Throws
  /// `IllegalArgumentException` if `type` is not the view's element type.
  public static <T extends TType> T copyOf(TensorView view, Class<T> type) {
    long[] dims = view.shape().dims().stream().mapToLong(Long::longValue).toArray();
    T tensor = Tensor.of(type, org.tensorflow.ndarray.Shape.of(dims));
    try {
      TensorView target = of(tensor);
      if (target.dtype() != view.dtype()) {
        throw new IllegalArgumentException(
            "a " + view.signature() + " does not fit a " + type.getSimpleName());
      }
      target.data().copyFrom(view.data());
      return tensor;
    } catch (RuntimeException e) {
      tensor.close();
      throw e;
    }
  }

  /// The address of a tensor's bytes. TensorFlow Java uses an address if `sun.misc.Unsafe` is
  /// available, otherwise a direct buffer.
  private record AsSegment(long bytes) implements DataStorageVisitor<MemorySegment> {

    @Override
    public MemorySegment visit(long address, long length, long scale) {
      return NativeTensor.segment(address, bytes);
    }

    @Override
    public MemorySegment visit(ByteBuffer buffer) {
      return MemorySegment.ofBuffer(buffer.duplicate().clear());
    }

    @Override
    public MemorySegment fallback() {
      throw new IllegalArgumentException("the tensor's data is neither native nor a direct buffer");
    }
  }
}
