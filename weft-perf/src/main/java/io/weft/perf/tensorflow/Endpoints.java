// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.tensorflow;

import static org.tensorflow.internal.c_api.global.tensorflow.TF_AllocateTensor;
import static org.tensorflow.internal.c_api.global.tensorflow.TF_DeleteTensor;
import static org.tensorflow.internal.c_api.global.tensorflow.TF_Dim;
import static org.tensorflow.internal.c_api.global.tensorflow.TF_NumDims;
import static org.tensorflow.internal.c_api.global.tensorflow.TF_TensorType;

import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.DataTypes;
import io.weft.tensorflow.ffm.NativeTensor;
import java.util.List;
import java.util.function.Function;
import org.bytedeco.javacpp.PointerPointer;
import org.tensorflow.internal.c_api.TF_Operation;
import org.tensorflow.internal.c_api.TF_Output;
import org.tensorflow.internal.c_api.TF_Tensor;
import org.tensorflow.proto.DataType;

/// The input or output tensors of a run with their names. It owns the tensors. It must be created
/// within a `PointerScope`, which frees the arrays.
final class Endpoints implements AutoCloseable {

  private final int size;
  private final TF_Output names;
  private final PointerPointer<TF_Tensor> tensors;

  /// @param wanted names of the form `node:0` or `node`
  /// @param operations returns the operation of a node's name
  Endpoints(List<String> wanted, Function<String, TF_Operation> operations) {
    size = wanted.size();
    names = new TF_Output(Math.max(1, size));
    tensors = new PointerPointer<>(Math.max(1, size));
    for (int i = 0; i < size; i++) {
      String name = wanted.get(i);
      int colon = name.lastIndexOf(':');
      names
          .getPointer(i)
          .oper(operations.apply(colon < 0 ? name : name.substring(0, colon)))
          .index(colon < 0 ? 0 : Integer.parseInt(name.substring(colon + 1)));
      tensors.put(i, null);
    }
  }

  int size() {
    return size;
  }

  TF_Output names() {
    return names;
  }

  PointerPointer<TF_Tensor> tensors() {
    return tensors;
  }

  /// Sets the tensor at `index` to a copy of `view`.
  void put(int index, TensorView view) {
    long[] dims = view.shape().dims().stream().mapToLong(Long::longValue).toArray();
    TF_Tensor tensor =
        TF_AllocateTensor(DataTypes.of(view.dtype()).getNumber(), dims, dims.length, view.bytes());
    tensors.put(index, tensor);
    NativeTensor.data(tensor.address()).copyFrom(view.data());
  }

  /// Returns the tensor at `index`, borrowed until `close`.
  TensorView get(int index) {
    TF_Tensor tensor = tensors.get(TF_Tensor.class, index);
    long[] dims = new long[TF_NumDims(tensor)];
    for (int i = 0; i < dims.length; i++) {
      dims[i] = TF_Dim(tensor, i);
    }
    return new TensorView(
        DataTypes.of(DataType.forNumber(TF_TensorType(tensor))),
        Shape.of(dims),
        NativeTensor.data(tensor.address()));
  }

  @Override
  public void close() {
    for (int i = 0; i < size; i++) {
      TF_Tensor tensor = tensors.get(TF_Tensor.class, i);
      if (tensor != null && !tensor.isNull()) {
        TF_DeleteTensor(tensor);
      }
    }
  }
}
