// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.graph.GraphIndex;
import io.weft.tensorflow.graph.NodeInput;
import io.weft.tensorflow.placement.GraphPlacement;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.tensorflow.proto.GraphDef;

/// A partitioned graph: one graph for each task that has a node, and the transfers between them.
/// Immutable; any thread.
public final class GraphPartition {

  private final GraphIndex graph;
  private final GraphPlacement placement;
  private final Map<Crossing, TransferNodes> cuts;
  private final SortedMap<Task, GraphDef> parts;
  private final List<Transfer> transfers;
  private final List<ReceiveGroup> groups;

  GraphPartition(
      GraphIndex graph,
      GraphPlacement placement,
      Map<Crossing, TransferNodes> cuts,
      SortedMap<Task, GraphDef> parts) {
    this.graph = graph;
    this.placement = placement;
    this.cuts = cuts;
    this.parts = Collections.unmodifiableSortedMap(parts);
    this.transfers = cuts.values().stream().map(TransferNodes::transfer).toList();
    this.groups = ReceiveGroup.of(transfers);
  }

  /// Returns the parts. Their devices do not name tasks, so each part runs in a separate session.
  public SortedMap<Task, GraphDef> parts() {
    return parts;
  }

  /// Returns all transfers, by number.
  public List<Transfer> transfers() {
    return transfers;
  }

  /// Returns the groups of transfers that may share a request, by number; each transfer is in one
  /// group.
  public List<ReceiveGroup> groups() {
    return groups;
  }

  /// Returns the task of a node, a feed or a fetch. Throws `IllegalArgumentException` for a name
  /// that no part has.
  public Task taskOf(String node) {
    String name = graph.contains(node) ? node : NodeInput.parse(node).node();
    graph.node(name);
    return placement.taskOf(name);
  }

  /// Returns each task's part of a call of the whole graph: its own feeds, fetches and targets, and
  /// the sends that other tasks need. Omits tasks that the call does not need, and nodes that only
  /// produce fed tensors. Throws `IllegalArgumentException` for a name that no part has.
  public SortedMap<Task, GraphCall> plan(GraphCall call) {
    SortedMap<Task, GraphCall> plan = new TreeMap<>();
    reach(call).sends.forEach((task, own) -> plan.put(task, at(task, call, own)));
    return plan;
  }

  /// Returns the receives of a call that may share a request, by destination. A group may have one
  /// receive in this call; groups that always have only one are omitted. Throws like `plan`.
  public SortedMap<Task, List<ReceiveGroup>> together(GraphCall call) {
    Set<Integer> needed = new HashSet<>();
    reach(call).crossed.forEach(crossing -> needed.add(nodes(crossing).transfer().number()));
    SortedMap<Task, List<ReceiveGroup>> together = new TreeMap<>();
    for (ReceiveGroup group : groups) {
      ReceiveGroup part = group.only(needed);
      if (group.transfers().size() > 1 && !part.transfers().isEmpty()) {
        together.computeIfAbsent(group.destination(), task -> new ArrayList<>()).add(part);
      }
    }
    return together;
  }

  /// The nodes that a call needs.
  ///
  /// @param sends the sends of each needed task
  /// @param crossed the crossings between tasks
  private record Reach(SortedMap<Task, List<String>> sends, Set<Crossing> crossed) {}

  private Reach reach(GraphCall call) {
    Set<NodeInput> fed = new HashSet<>();
    call.feeds().forEach(feed -> fed.add(NodeInput.parse(feed)));
    Set<String> reached = new HashSet<>();
    SortedMap<Task, List<String>> sends = new TreeMap<>();
    Set<Crossing> crossed = new HashSet<>();
    Deque<NodeInput> open = new ArrayDeque<>();
    call.fetches().forEach(fetch -> open.add(NodeInput.parse(fetch)));
    call.targets().forEach(target -> open.add(new NodeInput(target, NodeInput.CONTROL)));
    while (!open.isEmpty()) {
      NodeInput wanted = open.remove();
      Task task = taskOf(wanted.node());
      sends.computeIfAbsent(task, key -> new ArrayList<>());
      if (fed.contains(wanted) || !reached.add(wanted.node())) {
        continue;
      }
      open.addAll(graph.inputs(wanted.node()));
      for (Crossing crossing : Crossing.of(wanted.node(), graph, placement).values()) {
        if (crossed.add(crossing)) {
          sends
              .computeIfAbsent(crossing.source(), key -> new ArrayList<>())
              .add(nodes(crossing).transfer().send());
        }
      }
    }
    return new Reach(sends, crossed);
  }

  private GraphCall at(Task task, GraphCall call, List<String> sends) {
    List<String> targets = new ArrayList<>(here(task, call.targets()));
    sends.stream().sorted().forEach(targets::add);
    return new GraphCall(here(task, call.feeds()), here(task, call.fetches()), targets);
  }

  private List<String> here(Task task, List<String> names) {
    return names.stream().filter(name -> taskOf(name).equals(task)).toList();
  }

  private TransferNodes nodes(Crossing crossing) {
    TransferNodes nodes = cuts.get(crossing);
    if (nodes == null) {
      throw new IllegalStateException("no transfer for " + crossing);
    }
    return nodes;
  }
}
