// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.placement;

import io.weft.tensorflow.DataTypes;
import io.weft.tensorflow.natives.TensorFlowLibraries;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.tensorflow.TensorFlow;
import org.tensorflow.proto.AttrValue;
import org.tensorflow.proto.DataType;
import org.tensorflow.proto.FunctionDef;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;
import org.tensorflow.proto.OpDef;
import org.tensorflow.proto.OpDef.ArgDef;

/// The input and output types of nodes, from the ops registered in this process and the functions
/// of the graph.
public final class OpTypes {

  private final Map<String, OpDef> ops;

  private OpTypes(Map<String, OpDef> ops) {
    this.ops = ops;
  }

  /// Returns all ops registered at present. Loads TensorFlow. Takes some milliseconds, so callers
  /// should keep the result.
  public static OpTypes registered() {
    Map<String, OpDef> ops = new HashMap<>();
    var unused = TensorFlowLibraries.load();
    TensorFlow.registeredOpList().getOpList().forEach(op -> ops.put(op.getName(), op));
    return new OpTypes(ops);
  }

  /// Returns these types with the functions of a graph's library added.
  public OpTypes with(GraphDef graph) {
    Map<String, OpDef> all = ops;
    if (graph.getLibrary().getFunctionCount() > 0) {
      all = new HashMap<>(ops);
      for (FunctionDef function : graph.getLibrary().getFunctionList()) {
        all.put(function.getSignature().getName(), function.getSignature());
      }
    }
    return new OpTypes(all);
  }

  /// Returns the types of the tensor inputs, in order.
  public List<DataType> inputs(NodeDef node) {
    OpDef op = op(node);
    return types(node, op, op.getInputArgList());
  }

  /// Returns the types of the outputs, in order.
  public List<DataType> outputs(NodeDef node) {
    OpDef op = op(node);
    return types(node, op, op.getOutputArgList());
  }

  /// Returns whether a value of this type is a handle to an object of its task, which consumers
  /// change or look up there.
  public static boolean handle(DataType type) {
    return type == DataType.DT_RESOURCE || reference(type);
  }

  /// Returns whether the type is a reference to a variable's memory.
  public static boolean reference(DataType type) {
    return DataTypes.value(type) != type;
  }

  private OpDef op(NodeDef node) {
    OpDef op = ops.get(node.getOp());
    if (op == null) {
      throw new IllegalArgumentException(
          "node '%s' is a %s, which is not an op or function registered in this process"
              .formatted(node.getName(), node.getOp()));
    }
    return op;
  }

  private static List<DataType> types(NodeDef node, OpDef op, List<ArgDef> arguments) {
    List<DataType> all = new ArrayList<>();
    for (ArgDef argument : arguments) {
      if (!argument.getTypeListAttr().isEmpty()) {
        all.addAll(attribute(node, op, argument.getTypeListAttr()).getList().getTypeList());
        continue;
      }
      DataType type =
          argument.getTypeAttr().isEmpty()
              ? argument.getType()
              : attribute(node, op, argument.getTypeAttr()).getType();
      if (argument.getIsRef()) {
        type = DataTypes.reference(type);
      }
      long count =
          argument.getNumberAttr().isEmpty()
              ? 1
              : attribute(node, op, argument.getNumberAttr()).getI();
      for (long i = 0; i < count; i++) {
        all.add(type);
      }
    }
    return all;
  }

  private static AttrValue attribute(NodeDef node, OpDef op, String name) {
    if (node.containsAttr(name)) {
      return node.getAttrOrThrow(name);
    }
    return op.getAttrList().stream()
        .filter(attribute -> attribute.getName().equals(name) && attribute.hasDefaultValue())
        .map(OpDef.AttrDef::getDefaultValue)
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalArgumentException(
                    "node '%s', a %s, has no attribute '%s'"
                        .formatted(node.getName(), node.getOp(), name)));
  }
}
