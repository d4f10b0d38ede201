// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import com.google.protobuf.ByteString;
import java.util.List;
import org.tensorflow.proto.AttrValue;
import org.tensorflow.proto.DataType;
import org.tensorflow.proto.TensorProto;
import org.tensorflow.proto.TensorShapeProto;

/// Attribute values in the form of a `GraphDef`.
final class Attributes {

  /// The shape of a tensor without elements, which stands for a control edge.
  static final TensorShapeProto EMPTY =
      TensorShapeProto.newBuilder().addDim(TensorShapeProto.Dim.newBuilder().setSize(0)).build();

  private Attributes() {}

  static AttrValue of(DataType type) {
    return AttrValue.newBuilder().setType(type).build();
  }

  static AttrValue of(String text) {
    return AttrValue.newBuilder().setS(ByteString.copyFromUtf8(text)).build();
  }

  static AttrValue of(long number) {
    return AttrValue.newBuilder().setI(number).build();
  }

  static AttrValue of(TensorShapeProto shape) {
    return AttrValue.newBuilder().setShape(shape).build();
  }

  static AttrValue ofTexts(List<String> texts) {
    AttrValue.ListValue.Builder all = AttrValue.ListValue.newBuilder();
    texts.forEach(text -> all.addS(ByteString.copyFromUtf8(text)));
    return AttrValue.newBuilder().setList(all).build();
  }

  static AttrValue ofNumbers(List<Long> numbers) {
    return AttrValue.newBuilder()
        .setList(AttrValue.ListValue.newBuilder().addAllI(numbers))
        .build();
  }

  static AttrValue ofAll(List<TensorShapeProto> shapes) {
    return AttrValue.newBuilder()
        .setList(AttrValue.ListValue.newBuilder().addAllShape(shapes))
        .build();
  }

  /// Returns an int32 tensor without elements.
  static AttrValue empty() {
    return AttrValue.newBuilder()
        .setTensor(TensorProto.newBuilder().setDtype(DataType.DT_INT32).setTensorShape(EMPTY))
        .build();
  }
}
