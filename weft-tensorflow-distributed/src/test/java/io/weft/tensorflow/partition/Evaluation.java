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

/// An evaluation of graphs of float scalars, node by node, in a random order of the nodes that are
/// ready. It runs all parts of a partition together. A receive is complete when all members of its
/// group that the call needs have been sent.
final class Evaluation {

  /// The nodes of all parts by name. The names are unique across the parts.
  private final Map<String, NodeDef> nodes = new LinkedHashMap<>();

  /// The sends for which each receive waits, its own send first.
  private final Map<String, List<String>> awaited = new HashMap<>();

  private final Map<String, Float> values = new HashMap<>();
  private final Map<String, Integer> times = new HashMap<>();
  private final Set<String> wanted = new HashSet<>();

  /// Returns the values of the call's fetches from the whole graph. Throws `Deadlock` if the
  /// evaluation does not end.
  static Map<String, Float> whole(GraphDef graph, GraphCall call, Map<String, Float> feeds) {
    Evaluation evaluation = new Evaluation();
    evaluation.add(graph);
    evaluation.want(call, feeds);
    evaluation.run(new Random(0));
    return evaluation.fetched(call);
  }

  private Evaluation() {}

  /// Evaluates the parts for a call with these groups.
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

  /// Returns the time at which each node completes on a machine where each computing op and each
  /// transfer takes 1, and all ready nodes run together.
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
      // In TensorFlow a fed node may still run for its control edges. Here it completes
      // immediately.
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
      // Some of the ready nodes run, not always the first.
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

  /// The state in which no node can run.
  static final class Deadlock extends RuntimeException {
    private static final long serialVersionUID = 1L;

    Deadlock(String message) {
      super(message);
    }
  }
}
