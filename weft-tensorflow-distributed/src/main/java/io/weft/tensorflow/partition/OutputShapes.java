// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import io.weft.tensorflow.graph.GraphIndex;
import io.weft.tensorflow.graph.NodeInput;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.tensorflow.Graph;
import org.tensorflow.exceptions.TensorFlowException;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.proto.AttrValue;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.TensorShapeProto;

/// The shapes of a graph's tensors, as far as known: TensorFlow's inferred shape when it imports
/// the graph, or else the attribute `_output_shapes`.
final class OutputShapes {

  private static final String ATTRIBUTE = "_output_shapes";

  private OutputShapes() {}

  /// Returns the shapes of these outputs. Throws `IllegalArgumentException` with TensorFlow's
  /// reason if TensorFlow does not accept the graph.
  static Map<NodeInput, TensorShapeProto> of(
      GraphDef definition, GraphIndex index, Collection<NodeInput> outputs) {
    Map<NodeInput, TensorShapeProto> shapes = new HashMap<>();
    if (outputs.isEmpty()) {
      return shapes;
    }
    try (Graph graph = new Graph()) {
      graph.importGraphDef(definition);
      for (NodeInput output : outputs) {
        Shape inferred = graph.operationOrThrow(output.node()).output(output.port()).shape();
        shapes.put(output, inferred.isUnknown() ? said(index, output) : proto(inferred));
      }
    } catch (TensorFlowException e) {
      throw new IllegalArgumentException(
          "TensorFlow does not accept the graph: " + e.getMessage(), e);
    }
    return shapes;
  }

  private static TensorShapeProto said(GraphIndex graph, NodeInput output) {
    List<TensorShapeProto> all =
        graph
            .node(output.node())
            .getAttrOrDefault(ATTRIBUTE, AttrValue.getDefaultInstance())
            .getList()
            .getShapeList();
    return output.port() < all.size()
        ? all.get(output.port())
        : TensorShapeProto.newBuilder().setUnknownRank(true).build();
  }

  private static TensorShapeProto proto(Shape shape) {
    TensorShapeProto.Builder proto = TensorShapeProto.newBuilder();
    for (long size : shape.asArray()) {
      proto.addDimBuilder().setSize(size);
    }
    return proto.build();
  }
}
