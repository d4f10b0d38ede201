// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import io.weft.tensorflow.DataTypes;
import io.weft.tensorflow.graph.NodeInput;
import io.weft.tensorflow.partition.TransferOps;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.tensorflow.proto.AttrValue;
import org.tensorflow.proto.DataType;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;
import org.tensorflow.proto.TensorShapeProto;

/// The fusion of a part's receives of one group and type whose tensors are short into one node. A
/// tensor is short if its known size is, or if its batch is unknown and an example of it is short,
/// as in lookups of embeddings, because a TensorFlow node costs more than a tensor of a few
/// kilobytes. Users of one receive then wait for all of them. The groups allow this: no member
/// depends on another, and all are ready at about the same time. [FUSERECV: overlap by topology]
final class FusedReceives {

  private static final String SHAPES = "_output_shapes";

  /// The largest size of an example in a tensor with an unknown batch: of 64 such examples, the
  /// tensor is still copied.
  private static final long EXAMPLE_BYTES = ReceiveKernel.COPIED_BYTES / 64;

  private final GraphDef part;
  private final Map<Key, List<NodeDef>> fused = new LinkedHashMap<>();

  /// The new places of the outputs of removed nodes.
  private final Map<String, NodeInput> moved = new HashMap<>();

  private record Key(long group, String source, DataType type) {}

  private FusedReceives(GraphDef part) {
    this.part = part;
    for (NodeDef node : part.getNodeList()) {
      if (isShort(node)) {
        fused.computeIfAbsent(key(node), key -> new ArrayList<>()).add(node);
      }
    }
    fused.values().removeIf(members -> members.size() < 2);
    for (List<NodeDef> members : fused.values()) {
      for (int i = 1; i < members.size(); i++) {
        moved.put(members.get(i).getName(), new NodeInput(members.getFirst().getName(), i));
      }
    }
  }

  /// Returns the part with fewer nodes; a fused node has the name of its first member.
  static GraphDef of(GraphDef part) {
    return new FusedReceives(part).fuse();
  }

  private static boolean isShort(NodeDef node) {
    List<TensorShapeProto> shapes = node.getAttrOrDefault(SHAPES, none()).getList().getShapeList();
    return node.getOp().equals(TransferOps.RECEIVE)
        && shapes.size() == 1
        && isShort(type(node), shapes.getFirst());
  }

  private static AttrValue none() {
    return AttrValue.getDefaultInstance();
  }

  private static boolean isShort(DataType type, TensorShapeProto shape) {
    if (shape.getUnknownRank()) {
      return false;
    }
    long bytes = DataTypes.of(type).bytes();
    int unknown = 0;
    for (TensorShapeProto.Dim dim : shape.getDimList()) {
      if (dim.getSize() < 0) {
        unknown++;
      } else {
        bytes *= Math.min(dim.getSize(), ReceiveKernel.COPIED_BYTES + 1);
      }
      if (bytes > ReceiveKernel.COPIED_BYTES) {
        return false;
      }
    }
    return unknown == 0 || (unknown == 1 && bytes <= EXAMPLE_BYTES);
  }

  private static DataType type(NodeDef node) {
    return node.getAttrOrThrow(TransferOps.TYPE).getType();
  }

  private static Key key(NodeDef node) {
    return new Key(
        node.getAttrOrThrow(TransferOps.GROUP).getI(),
        node.getAttrOrThrow(TransferOps.SOURCE).getS().toStringUtf8(),
        type(node));
  }

  private GraphDef fuse() {
    if (fused.isEmpty()) {
      return part;
    }
    Map<String, NodeDef> first = new HashMap<>();
    fused.values().forEach(members -> first.put(members.getFirst().getName(), one(members)));
    GraphDef.Builder fewer = part.toBuilder().clearNode();
    for (NodeDef node : part.getNodeList()) {
      if (!moved.containsKey(node.getName())) {
        fewer.addNode(first.getOrDefault(node.getName(), rewired(node)));
      }
    }
    return fewer.build();
  }

  private static NodeDef one(List<NodeDef> members) {
    return members.getFirst().toBuilder()
        .putAttr(TransferOps.COUNT, AttrValue.newBuilder().setI(members.size()).build())
        .putAttr(TransferOps.EDGES, joined(members, TransferOps.EDGES))
        .putAttr(TransferOps.TENSOR_NAMES, joined(members, TransferOps.TENSOR_NAMES))
        .putAttr(TransferOps.URGENCIES, joined(members, TransferOps.URGENCIES))
        .putAttr(SHAPES, joined(members, SHAPES))
        .build();
  }

  private static AttrValue joined(List<NodeDef> members, String attribute) {
    AttrValue.ListValue.Builder all = AttrValue.ListValue.newBuilder();
    members.forEach(member -> all.mergeFrom(member.getAttrOrThrow(attribute).getList()));
    return AttrValue.newBuilder().setList(all).build();
  }

  private NodeDef rewired(NodeDef node) {
    NodeDef.Builder rewired = null;
    for (int i = 0; i < node.getInputCount(); i++) {
      NodeInput input = NodeInput.parse(node.getInput(i));
      NodeInput there = moved.get(input.node());
      if (there != null) {
        rewired = rewired == null ? node.toBuilder() : rewired;
        NodeInput now = input.control() ? new NodeInput(there.node(), NodeInput.CONTROL) : there;
        rewired.setInput(i, now.toString());
      }
    }
    return rewired == null ? node : rewired.build();
  }
}
