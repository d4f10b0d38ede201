// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.saved;

import java.util.Map;
import java.util.function.BiConsumer;
import org.tensorflow.Signature;
import org.tensorflow.Signature.TensorDescription;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.proto.SignatureDef;
import org.tensorflow.proto.TensorInfo;
import org.tensorflow.proto.TensorShapeProto;

/// Signatures in the format of a SavedModel file.
final class SavedSignatures {

  private static final String PREDICT = "tensorflow/serving/predict";

  private SavedSignatures() {}

  static SignatureDef definition(Signature signature) {
    String method = signature.methodName();
    SignatureDef.Builder definition =
        SignatureDef.newBuilder()
            .setMethodName(method == null || method.isEmpty() ? PREDICT : method);
    put(signature.getInputs(), definition::putInputs);
    put(signature.getOutputs(), definition::putOutputs);
    return definition.build();
  }

  static TensorShapeProto shape(Shape shape) {
    TensorShapeProto.Builder proto = TensorShapeProto.newBuilder();
    if (shape.isUnknown()) {
      return proto.setUnknownRank(true).build();
    }
    for (long size : shape.asArray()) {
      proto.addDim(TensorShapeProto.Dim.newBuilder().setSize(size));
    }
    return proto.build();
  }

  private static void put(
      Map<String, TensorDescription> tensors, BiConsumer<String, TensorInfo> into) {
    tensors.forEach(
        (key, tensor) ->
            into.accept(
                key,
                TensorInfo.newBuilder()
                    .setName(tensor.name)
                    .setDtype(tensor.dataType)
                    .setTensorShape(shape(tensor.shape))
                    .build()));
  }
}
