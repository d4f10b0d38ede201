// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.placement;

import com.google.protobuf.ByteString;
import java.util.List;
import org.tensorflow.proto.AttrValue;
import org.tensorflow.proto.DataType;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;
import org.tensorflow.proto.TensorProto;
import org.tensorflow.proto.TensorShapeProto;

/// A builder of graphs of float nodes.
public final class Nodes {

  private final GraphDef.Builder graph = GraphDef.newBuilder();

  /// Adds a node with the attributes `T` and `dtype`, both float.
  public Nodes add(String name, String op, String device, String... inputs) {
    AttrValue type = AttrValue.newBuilder().setType(DataType.DT_FLOAT).build();
    NodeDef.Builder node =
        graph
            .addNodeBuilder()
            .setName(name)
            .setOp(op)
            .setDevice(device)
            .addAllInput(List.of(inputs));
    if (!op.equals("NoOp")) {
      node.putAttr("T", type).putAttr("dtype", type);
    }
    if (op.equals("Const")) {
      node.removeAttr("T").putAttr("value", constant(1));
    } else if (op.equals("Placeholder") || op.startsWith("Var")) {
      node.removeAttr("T");
    } else if (!op.endsWith("VariableOp")) {
      node.removeAttr("dtype");
    } else {
      node.removeAttr("T");
    }
    return this;
  }

  /// Adds a resource variable with these dimensions.
  public Nodes variable(String name, String device, long... dims) {
    add(name, "VarHandleOp", device);
    return attribute("shape", AttrValue.newBuilder().setShape(shape(dims)).build())
        .attribute(
            "shared_name", AttrValue.newBuilder().setS(ByteString.copyFromUtf8(name)).build());
  }

  /// Gives the last node an attribute.
  public Nodes attribute(String name, AttrValue value) {
    graph.getNodeBuilder(graph.getNodeCount() - 1).putAttr(name, value);
    return this;
  }

  /// Colocates the last node with these nodes.
  public Nodes with(String... others) {
    AttrValue.ListValue.Builder list = AttrValue.ListValue.newBuilder();
    for (String other : others) {
      list.addS(ByteString.copyFromUtf8("loc:@" + other));
    }
    return attribute("_class", AttrValue.newBuilder().setList(list).build());
  }

  public GraphDef build() {
    return graph.build();
  }

  /// Returns a float scalar.
  public static AttrValue constant(float value) {
    return AttrValue.newBuilder()
        .setTensor(
            TensorProto.newBuilder()
                .setDtype(DataType.DT_FLOAT)
                .setTensorShape(TensorShapeProto.getDefaultInstance())
                .addFloatVal(value))
        .build();
  }

  private static TensorShapeProto shape(long... dims) {
    TensorShapeProto.Builder shape = TensorShapeProto.newBuilder();
    for (long dim : dims) {
      shape.addDimBuilder().setSize(dim);
    }
    return shape.build();
  }
}
