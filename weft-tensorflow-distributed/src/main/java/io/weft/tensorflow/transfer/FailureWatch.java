// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import com.google.protobuf.ByteString;
import io.weft.tensorflow.partition.TransferOps;
import java.util.HashSet;
import java.util.Set;
import org.tensorflow.Graph;
import org.tensorflow.GraphOperation;
import org.tensorflow.OperationBuilder;
import org.tensorflow.proto.AttrValue;
import org.tensorflow.proto.DataType;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;

/// The detection of a failed node in a part while receives of the same part wait for remote effects
/// of that node. TensorFlow cancels its own ops, but does not notify kernels of the C interface,
/// and its run does not end before they do.
///
/// TensorFlow does report when it releases a tensor. The receives therefore depend on a `_Send` of
/// such a tensor. TensorFlow's own, local rendezvous keeps the tensor and drops it when a node has
/// failed [TensorFlow, local_rendezvous.cc, executor.cc]. After all other nodes, a `_Recv` takes
/// the tensor, because one that no node takes would never be released.
public final class FailureWatch {

  private static final String NAME = "weft_watch";
  private static final String SEND = "_Send";

  /// The suffix that the name of the second node adds to that of the first.
  private static final String SENDING = "/send";

  // Attributes with equal values on both ends.
  private static final String KEY = "tensor_name";
  private static final String FROM = "send_device";
  private static final String INCARNATION = "send_device_incarnation";
  private static final String TO = "recv_device";
  private static final String BY_CLIENT = "client_terminated";

  /// The device of a session that is not distributed.
  private static final String DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0";

  private FailureWatch() {}

  /// Adds the watch if the part has receives from, and sends to, other tasks.
  ///
  /// @param part the part's number, as an attribute
  static void add(GraphDef.Builder graph, AttrValue part) {
    Set<String> names = new HashSet<>();
    Set<String> ops = new HashSet<>();
    graph
        .getNodeList()
        .forEach(
            node -> {
              names.add(node.getName());
              ops.add(node.getOp());
            });
    if (!ops.contains(TransferOps.SEND) || !ops.contains(TransferOps.RECEIVE)) {
      return;
    }
    StringBuilder free = new StringBuilder(NAME);
    while (names.contains(free.toString()) || names.contains(free + SENDING)) {
      free.append('_');
    }
    String behind = "^" + free + SENDING;
    for (NodeDef.Builder node : graph.getNodeBuilderList()) {
      if (node.getOp().equals(TransferOps.RECEIVE)) {
        node.addInput(behind);
      }
    }
    AttrValue type = AttrValue.newBuilder().setType(DataType.DT_UINT8).build();
    graph.addNode(
        NodeDef.newBuilder()
            .setName(free.toString())
            .setOp(TransferOps.WATCH)
            .putAttr(TransferOps.TYPE, type)
            .putAttr(TransferOps.PART, part));
    graph.addNode(
        NodeDef.newBuilder()
            .setName(free + SENDING)
            .setOp(SEND)
            .addInput(free.toString())
            .putAttr(TransferOps.TYPE, type)
            .putAttr(KEY, text(NAME))
            .putAttr(FROM, text(DEVICE))
            .putAttr(INCARNATION, AttrValue.newBuilder().setI(1).build())
            .putAttr(TO, text(DEVICE))
            .putAttr(BY_CLIENT, AttrValue.newBuilder().setB(false).build()));
  }

  /// Returns a builder of the node that ends the watch. The caller makes it depend on all nodes of
  /// the run.
  ///
  /// @param begin the node of the op `WeftWatch`, which then runs whatever is fed
  public static OperationBuilder end(Graph graph, String name, GraphOperation begin) {
    return graph
        .opBuilder("_Recv", name, graph.baseScope())
        .addControlInput(graph.operation(begin.name() + SENDING))
        .setAttr("tensor_type", DataType.DT_UINT8)
        .setAttr(KEY, NAME)
        .setAttr(FROM, DEVICE)
        .setAttr(INCARNATION, 1L)
        .setAttr(TO, DEVICE)
        .setAttr(BY_CLIENT, false);
  }

  private static AttrValue text(String text) {
    return AttrValue.newBuilder().setS(ByteString.copyFromUtf8(text)).build();
  }
}
