// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;

/// Runs graphs of float scalars node by node, in an order drawn by chance among the nodes that are
/// ready. Of a partition it runs all parts at once; a receive is done when all members of its group
/// that the call needs have been sent.
final class Evaluation {

  /// Nodes of all parts by name; the names are unique over them.
  private final Map<String, NodeDef> nodes = new LinkedHashMap<>();

  /// Of each receive: the sends that it waits for, its own first.
  private final Map<String, List<String>> awaited = new HashMap<>();

  private final Map<String, Float> values = new HashMap<>();
  private final Map<String, Integer> times = new HashMap<>();
  private final Set<String> wanted = new HashSet<>();

  /// The values of the call's fetches, of the whole graph. Throws `Deadlock` if it does not end.
  static Map<String, Float> whole(GraphDef graph, GraphCall call, Map<String, Float> feeds) {
    Evaluation evaluation = new Evaluation();
    evaluation.add(graph);
    evaluation.want(call, feeds);
    evaluation.run(new Random(0));
    return evaluation.fetched(call);
  }

  private Evaluation() {}

  /// What the parts do for a call, when groups are these.
  Evaluation(
      GraphPartition partition,
      GraphCall call,
      Map<String, Float> feeds,
      List<List<Transfer>> groups,
      Random order) {
    partition.parts().values().forEach(this::add);
    Map<?, GraphCall> plan = new TreeMap<>(partition.plan(call));
    Set<String> sends = new HashSet<>();
    plan.values().forEach(own -> sends.addAll(own.targets()));
    for (List<Transfer> group : groups) {
      List<String> needed = group.stream().map(Transfer::send).filter(sends::contains).toList();
      for (Transfer transfer : group) {
        List<String> own = new ArrayList<>(List.of(transfer.send()));
        needed.stream().filter(send -> !send.equals(transfer.send())).forEach(own::add);
        awaited.put(transfer.receive(), own);
      }
    }
    plan.values().forEach(own -> want(own, feeds));
    run(order);
  }

  Map<String, Float> fetched(GraphCall call) {
    Map<String, Float> fetched = new TreeMap<>();
    call.fetches().forEach(name -> fetched.put(name, values.get(name)));
    return fetched;
  }

  /// When each node of the graph is done on a machine where ops that compute take 1, a transfer
  /// takes 1, and all that is ready runs at once.
  Map<String, Integer> times() {
    return times;
  }

  private void add(GraphDef graph) {
    graph.getNodeList().forEach(node -> nodes.put(node.getName(), node));
  }

  private void want(GraphCall call, Map<String, Float> feeds) {
    call.feeds()
        .forEach(
            name -> {
              values.put(name, feeds.get(name));
              times.put(name, 0);
            });
    List<String> open = new ArrayList<>(call.fetches());
    open.addAll(call.targets());
    while (!open.isEmpty()) {
      String name = open.removeLast();
      // A node that is fed may still run for its control edges; here it is done at once.
      if (!values.containsKey(name) && wanted.add(name)) {
        inputs(name).forEach(open::add);
      }
    }
  }

  private void run(Random order) {
    Set<String> left = new HashSet<>(wanted);
    while (!left.isEmpty()) {
      List<String> ready =
          nodes.keySet().stream()
              .filter(left::contains)
              .filter(name -> waitsFor(name).stream().allMatch(values::containsKey))
              .toList();
      if (ready.isEmpty()) {
        throw new Deadlock("nothing is ready, these are left: " + left);
      }
      // Some of what is ready, not always the first.
      int from = order.nextInt(ready.size());
      ready.subList(from, ready.size()).forEach(this::compute);
      left.removeAll(ready.subList(from, ready.size()));
    }
  }

  private void compute(String name) {
    NodeDef node = nodes.get(name);
    List<String> data =
        node.getInputList().stream().filter(i -> !i.startsWith("^")).map(Evaluation::node).toList();
    float a = data.isEmpty() ? 0 : values.get(data.getFirst());
    float b = data.size() < 2 ? 0 : values.get(data.getLast());
    float value =
        switch (node.getOp()) {
          case "Const" ->
              node.getAttrOrThrow("value").getTensor().getFloatValCount() == 0
                  ? 0
                  : node.getAttrOrThrow("value").getTensor().getFloatVal(0);
          case "AddV2" -> a + b;
          case "Mul" -> a * b;
          case "Maximum" -> Math.max(a, b);
          case "Neg" -> -a;
          case "Identity", "EnsureShape", TransferOps.SEND -> a;
          case "NoOp" -> 0;
          case TransferOps.RECEIVE -> values.get(waitsFor(name).getFirst());
          default -> throw new IllegalArgumentException(node.getOp());
        };
    values.put(name, value);
    int start = waitsFor(name).stream().mapToInt(times::get).max().orElse(0);
    boolean free =
        Set.of("Const", "Identity", "EnsureShape", "NoOp", TransferOps.SEND).contains(node.getOp());
    times.put(name, start + (free ? 0 : 1));
  }

  private List<String> waitsFor(String name) {
    return awaited.containsKey(name) ? awaited.get(name) : inputs(name);
  }

  private List<String> inputs(String name) {
    return nodes.get(name).getInputList().stream().map(Evaluation::node).toList();
  }

  private static String node(String input) {
    String plain = input.startsWith("^") ? input.substring(1) : input;
    return plain.endsWith(":0") ? plain.substring(0, plain.length() - 2) : plain;
  }

  /// Nothing can run any more.
  static final class Deadlock extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Deadlock(String message) {
      super(message);
    }
  }
}
