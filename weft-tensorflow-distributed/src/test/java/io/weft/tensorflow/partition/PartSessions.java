// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.graph.NodeInput;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.tensorflow.Graph;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.Tensor;
import org.tensorflow.proto.ConfigProto;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.GraphOptions;
import org.tensorflow.proto.NodeDef;
import org.tensorflow.proto.OptimizerOptions;
import org.tensorflow.proto.RewriterConfig;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt32;

/// The parts of a graph in one process, each in a separate session. Receives are placeholders, to
/// which this class transfers the inputs of the sends. All names have a prefix, because a session
/// would initialize its part by the names of nodes, and the initializers may need other parts.
final class PartSessions implements AutoCloseable {

  private static final String PREFIX = "part/";

  /// A configuration without optimizers, which treat a node with constant inputs as a constant even
  /// if it is fed.
  static final ConfigProto PLAIN =
      ConfigProto.newBuilder()
          .setGraphOptions(
              GraphOptions.newBuilder()
                  .setOptimizerOptions(
                      OptimizerOptions.newBuilder().setOptLevel(OptimizerOptions.Level.L0))
                  .setRewriteOptions(RewriterConfig.newBuilder().setDisableMetaOptimizer(true)))
          .build();

  private final GraphPartition partition;
  private final Map<Task, Graph> graphs = new TreeMap<>();
  private final Map<Task, Session> sessions = new TreeMap<>();
  private final Map<String, String> sent = new HashMap<>();

  PartSessions(GraphPartition partition) {
    this.partition = partition;
    partition.parts().forEach(this::open);
  }

  private void open(Task task, GraphDef part) {
    GraphDef.Builder local = part.toBuilder().clearNode();
    for (NodeDef node : part.getNodeList()) {
      switch (node.getOp()) {
        case TransferOps.SEND -> sent.put(node.getName(), node.getInput(0));
        case TransferOps.RECEIVE ->
            local.addNode(
                NodeDef.newBuilder()
                    .setName(node.getName())
                    .setOp("Placeholder")
                    .putAttr("dtype", node.getAttrOrThrow(TransferOps.TYPE)));
        default -> local.addNode(node);
      }
    }
    for (NodeDef.Builder node : local.getNodeBuilderList()) {
      node.setName(PREFIX + node.getName()).removeAttr("_class");
      for (int i = 0; i < node.getInputCount(); i++) {
        String input = node.getInput(i);
        node.setInput(
            i, input.startsWith("^") ? "^" + PREFIX + input.substring(1) : PREFIX + input);
      }
    }
    Graph graph = new Graph();
    graphs.put(task, graph);
    graph.importGraphDef(local.build());
    sessions.put(task, new Session(graph, PLAIN));
  }

  /// Runs a call. Returns copies of its fetches' bytes.
  Map<String, byte[]> run(GraphCall call, Map<String, Tensor> feeds) {
    SortedMap<Task, GraphCall> plan = partition.plan(call);
    List<Result> results = new ArrayList<>();
    Map<Task, Map<String, Tensor>> arrived = new HashMap<>();
    plan.forEach(
        (task, own) -> {
          Map<String, Tensor> fed = new HashMap<>();
          own.feeds().forEach(name -> fed.put(name, feeds.get(name)));
          arrived.put(task, fed);
        });
    try {
      partition.groups().stream()
          .sorted(Comparator.comparingInt(ReceiveGroup::level))
          .forEach(group -> carry(group, plan, arrived, results));
      Map<String, byte[]> fetched = new HashMap<>();
      plan.forEach((task, own) -> finish(task, own, arrived.get(task), fetched));
      return fetched;
    } finally {
      results.forEach(Result::close);
    }
  }

  private void carry(
      ReceiveGroup group,
      Map<Task, GraphCall> plan,
      Map<Task, Map<String, Tensor>> arrived,
      List<Result> results) {
    GraphCall own = plan.get(group.source());
    if (own == null) {
      return;
    }
    List<Transfer> needed =
        group.transfers().stream().filter(t -> own.targets().contains(t.send())).toList();
    if (needed.isEmpty()) {
      return;
    }
    Session.Runner runner = sessions.get(group.source()).runner();
    Map<String, Tensor> here = arrived.get(group.source());
    Map<String, Tensor> there = arrived.get(group.destination());
    here.forEach((name, tensor) -> runner.feed(PREFIX + name, tensor));
    List<Transfer> fetched = new ArrayList<>();
    for (Transfer transfer : needed) {
      NodeInput tensor = NodeInput.parse(sent.get(transfer.send()));
      Tensor fed = tensor.port() == 0 ? here.get(tensor.node()) : null;
      if (fed == null) {
        runner.fetch(PREFIX + tensor);
        fetched.add(transfer);
      } else {
        there.put(transfer.receive(), fed);
      }
    }
    if (!fetched.isEmpty()) {
      Result result = runner.run();
      results.add(result);
      for (int i = 0; i < fetched.size(); i++) {
        there.put(fetched.get(i).receive(), copy(result.get(i)));
      }
    }
  }

  private void finish(
      Task task, GraphCall own, Map<String, Tensor> arrived, Map<String, byte[]> fetched) {
    List<String> targets = own.targets().stream().filter(name -> !sent.containsKey(name)).toList();
    if (targets.isEmpty() && own.fetches().isEmpty()) {
      return;
    }
    Session.Runner runner = sessions.get(task).runner();
    arrived.forEach((name, tensor) -> runner.feed(PREFIX + name, tensor));
    targets.forEach(name -> runner.addTarget(PREFIX + name));
    own.fetches().forEach(name -> runner.fetch(PREFIX + name));
    try (Result result = runner.run()) {
      for (int i = 0; i < own.fetches().size(); i++) {
        fetched.put(own.fetches().get(i), bytes(result.get(i)));
      }
    }
  }

  /// Copies a fetched tensor. A fetched reference is the variable's own memory, which later steps
  /// change.
  private static Tensor copy(Tensor tensor) {
    return switch (tensor) {
      case TFloat32 floats -> TFloat32.tensorOf(floats);
      case TInt32 numbers -> TInt32.tensorOf(numbers);
      default -> throw new AssertionError(tensor);
    };
  }

  static byte[] bytes(Tensor tensor) {
    byte[] bytes = new byte[Math.toIntExact(tensor.numBytes())];
    tensor.asRawTensor().data().read(bytes);
    return bytes;
  }

  @Override
  public void close() {
    sessions.values().forEach(Session::close);
    graphs.values().forEach(Graph::close);
  }
}
