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

/// How a part finds out that a node of it has failed, while receives of the same part wait for what
/// that node would have caused elsewhere. TensorFlow cancels its own ops then, but tells kernels of
/// the C interface nothing, and its run does not end before they do.
///
/// What it does tell is when it lets go of a tensor. So the receives stand behind a `_Send` of such
/// a tensor: TensorFlow's own, local rendezvous keeps it, and drops it when a node has failed
/// [TensorFlow, local_rendezvous.cc, executor.cc]. When all has run a `_Recv` takes it; one that
/// nobody takes would never be given back.
public final class FailureWatch {

  private static final String NAME = "weft_watch";
  private static final String SEND = "_Send";

  /// What is behind the name of the first node in that of the second.
  private static final String SENDING = "/send";

  // What both ends agree on.
  private static final String KEY = "tensor_name";
  private static final String FROM = "send_device";
  private static final String INCARNATION = "send_device_incarnation";
  private static final String TO = "recv_device";
  private static final String BY_CLIENT = "client_terminated";

  /// The device of a session that is not distributed.
  private static final String DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0";

  private FailureWatch() {}

  /// Adds it, if nodes of the part wait for other tasks which may wait for it.
  ///
  /// @param part of the nodes, as an attribute
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

  /// A node of this name that ends the watch; it is to stand behind all nodes of the run.
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
