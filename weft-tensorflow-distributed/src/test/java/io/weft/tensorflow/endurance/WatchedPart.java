// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.endurance;

import com.google.protobuf.ByteString;
import io.weft.Weft;
import io.weft.tensorflow.partition.TransferOps;
import io.weft.tensorflow.transfer.FailureWatch;
import io.weft.tensorflow.transfer.GraphPart;
import io.weft.tensorflow.transfer.ReceivePlan;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.tensorflow.Graph;
import org.tensorflow.GraphOperation;
import org.tensorflow.OperationBuilder;
import org.tensorflow.Output;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.op.Ops;
import org.tensorflow.proto.AttrValue;
import org.tensorflow.proto.ConfigProto;
import org.tensorflow.proto.DataType;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.GraphOptions;
import org.tensorflow.proto.NodeDef;
import org.tensorflow.proto.RewriterConfig;
import org.tensorflow.types.TFloat32;

/// A part of one send and one receive of four bytes, both of this task, in a private session. It
/// runs as in a task, with its watch, or with the watch removed. Owned. One thread.
final class WatchedPart implements AutoCloseable {

  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final String TASK = "/job:worker/task:0";
  private static final String SENDING = "send";
  private static final String RECEIVING = "receive";
  private static final String ALL = "all";
  private static final float VALUE = 17;

  private final GraphPart part;
  private final ReceivePlan plan;
  private final Graph graph = new Graph();
  private final Session session;
  private final Output<?> received;
  private final GraphOperation all;

  private WatchedPart(GraphPart part, GraphDef definition) {
    this.part = part;
    this.plan = new ReceivePlan(part, List.of());
    graph.importGraphDef(definition);
    this.received = graph.operation(RECEIVING).output(0);
    this.all = behindAll(graph);
    this.session = new Session(graph, config());
  }

  /// Creates a part of rank 0 of a job with one rank.
  static WatchedPart of(Weft weft, boolean isWatched) {
    GraphPart part =
        new GraphPart(isWatched ? "watched" : "plain", weft.rendezvous(), 0, task -> 0);
    GraphDef bound = part.bind(definition());
    return new WatchedPart(part, isWatched ? bound : unwatched(bound));
  }

  private static GraphDef definition() {
    try (Graph graph = new Graph()) {
      Ops.create(graph).withName("value").constant(VALUE);
      return graph.toGraphDef().toBuilder()
          .addNode(end(SENDING, TransferOps.SEND).addInput("value"))
          .addNode(end(RECEIVING, TransferOps.RECEIVE))
          .build();
    }
  }

  private static NodeDef.Builder end(String name, String op) {
    return NodeDef.newBuilder()
        .setName(name)
        .setOp(op)
        .putAttr(TransferOps.TYPE, AttrValue.newBuilder().setType(DataType.DT_FLOAT).build())
        .putAttr(TransferOps.COUNT, number(1))
        .putAttr(TransferOps.TENSOR_NAMES, texts("value:0"))
        .putAttr(TransferOps.EDGES, texts("edge"))
        .putAttr(TransferOps.SOURCE, text(TASK))
        .putAttr(TransferOps.DESTINATION, text(TASK))
        .putAttr(TransferOps.GROUP, number(0))
        .putAttr(
            TransferOps.URGENCIES,
            AttrValue.newBuilder().setList(AttrValue.ListValue.newBuilder().addI(0)).build());
  }

  private static AttrValue number(long number) {
    return AttrValue.newBuilder().setI(number).build();
  }

  private static AttrValue texts(String text) {
    return AttrValue.newBuilder()
        .setList(AttrValue.ListValue.newBuilder().addS(ByteString.copyFromUtf8(text)))
        .build();
  }

  private static AttrValue text(String text) {
    return AttrValue.newBuilder().setS(ByteString.copyFromUtf8(text)).build();
  }

  /// Returns the graph without the nodes that `GraphPart.bind` has added. Throws
  /// `IllegalStateException` if it added none.
  private static GraphDef unwatched(GraphDef bound) {
    Set<String> own =
        definition().getNodeList().stream().map(NodeDef::getName).collect(Collectors.toSet());
    GraphDef.Builder without = bound.toBuilder().clearNode();
    for (NodeDef node : bound.getNodeList()) {
      if (own.contains(node.getName())) {
        NodeDef.Builder kept = node.toBuilder();
        if (node.getOp().equals(TransferOps.RECEIVE)) {
          kept.clearInput();
        }
        without.addNode(kept);
      }
    }
    if (without.getNodeCount() == bound.getNodeCount()) {
      throw new IllegalStateException("a part that sends and receives has no watch");
    }
    return without.build();
  }

  /// Adds the target of a call of this part, as a task does.
  private static GraphOperation behindAll(Graph graph) {
    GraphOperation watch = null;
    var operations = graph.operations();
    while (operations.hasNext()) {
      GraphOperation operation = operations.next();
      if (operation.type().equals(TransferOps.WATCH)) {
        watch = operation;
      }
    }
    OperationBuilder last =
        watch == null
            ? graph.opBuilder("NoOp", ALL, graph.baseScope())
            : FailureWatch.end(graph, ALL, watch);
    last.addControlInput(graph.operation(SENDING))
        .addControlInput(graph.operation(RECEIVING))
        .build();
    return graph.operation(ALL);
  }

  private static ConfigProto config() {
    return ConfigProto.newBuilder()
        .setGraphOptions(
            GraphOptions.newBuilder()
                .setRewriteOptions(
                    RewriterConfig.newBuilder()
                        .setMemoryOptimization(RewriterConfig.MemOptType.NO_MEM_OPT)))
        .build();
  }

  /// Runs one step. Throws `IllegalStateException` if the received value is not the sent one.
  void run(long step) {
    part.begin(step, System.nanoTime() + LIMIT.toNanos(), plan);
    try (Result result = session.runner().fetch(received).addTarget(all).run()) {
      float value = ((TFloat32) result.get(0)).getFloat();
      if (value != VALUE) {
        throw new IllegalStateException("received %s, sent %s".formatted(value, VALUE));
      }
    } finally {
      part.end();
    }
  }

  @Override
  public void close() {
    session.close();
    graph.close();
    part.close();
  }
}
