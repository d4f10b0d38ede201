// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import java.util.ArrayList;
import java.util.List;
import org.tensorflow.proto.DataType;
import org.tensorflow.proto.NodeDef;

/// The nodes that one transfer adds to the two parts.
///
/// @param transfer the tensor and its tasks
/// @param crossing the edges that the transfer replaces
/// @param prefix the prefix of the names of all its nodes
/// @param group number of its receive group
/// @param urgency the longest path of the graph that depends on the transfer
record TransferNodes(Transfer transfer, Crossing crossing, String prefix, int group, int urgency) {

  /// The attribute that an import uses as the shapes of a node's outputs and then drops
  /// [TensorFlow, graph_constructor.cc].
  private static final String OUTPUT_SHAPES = "_output_shapes";

  /// Returns the nodes in the source's part. Control edges become an empty tensor that depends on
  /// them.
  List<NodeDef> sending() {
    List<NodeDef> nodes = new ArrayList<>();
    String tensor = crossing.inputs().getFirst().toString();
    if (crossing.control()) {
      String signal = prefix + "/signal";
      NodeDef.Builder constant = node(signal, "Const");
      crossing.inputs().forEach(input -> constant.addInput(input.toString()));
      nodes.add(
          constant
              .putAttr("dtype", Attributes.of(DataType.DT_INT32))
              .putAttr("value", Attributes.empty())
              .build());
      tensor = signal;
    }
    nodes.add(end(transfer.send(), TransferOps.SEND).addInput(tensor).build());
    return nodes;
  }

  /// Returns the nodes in the destination's part.
  List<NodeDef> receiving() {
    NodeDef.Builder receive = end(transfer.receive(), TransferOps.RECEIVE);
    if (!crossing.control() && !transfer.shape().getUnknownRank()) {
      receive.putAttr(OUTPUT_SHAPES, Attributes.ofAll(List.of(transfer.shape())));
    }
    return List.of(receive.build());
  }

  /// Returns the input that replaces the source's node in nodes of the destination.
  String input() {
    return crossing.control() ? "^" + transfer.receive() : transfer.receive();
  }

  private NodeDef.Builder end(String name, String op) {
    return node(name, op)
        .putAttr(TransferOps.TYPE, Attributes.of(transfer.type()))
        .putAttr(TransferOps.COUNT, Attributes.of(1))
        .putAttr(TransferOps.TENSOR_NAMES, Attributes.ofTexts(List.of(transfer.tensor())))
        .putAttr(TransferOps.EDGES, Attributes.ofTexts(List.of(transfer.edge())))
        .putAttr(TransferOps.SOURCE, Attributes.of(transfer.source().toString()))
        .putAttr(TransferOps.DESTINATION, Attributes.of(transfer.destination().toString()))
        .putAttr(TransferOps.GROUP, Attributes.of(group))
        .putAttr(TransferOps.URGENCIES, Attributes.ofNumbers(List.of((long) urgency)));
  }

  private static NodeDef.Builder node(String name, String op) {
    return NodeDef.newBuilder().setName(name).setOp(op);
  }
}
