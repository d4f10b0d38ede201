// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.Task;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.tensorflow.Graph;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.Tensor;
import org.tensorflow.types.TFloat32;

class RandomPartitionTest {

  private static final ClusterSpec CLUSTER =
      ClusterSpec.of(Map.of("ps", List.of("a:1", "b:1"), "worker", List.of("c:1")));
  private static final int GRAPHS =
      Integer.getInteger("weft.test.graphs", Boolean.getBoolean("weft.test.long") ? 2000 : 200);
  private static final int SESSIONS = 36;

  private final Partitioner partitioner = new Partitioner(CLUSTER, new Task("worker", 0));
  private final long seed = Long.getLong("weft.test.seed", System.nanoTime());

  @Test
  void groupedPartsMatchTheWholeGraphWithoutDeadlock() {
    int together = 0;
    for (int i = 0; i < GRAPHS; i++) {
      String where = "-Dweft.test.seed=" + seed + " graph " + i;
      RandomGraphs drawn = RandomGraphs.draw(seed + i);
      Map<String, Float> feeds = feeds(drawn.call());
      GraphPartition partition = partitioner.partition(drawn.graph());
      List<List<Transfer>> groups =
          partition.groups().stream().map(ReceiveGroup::transfers).toList();
      List<List<Transfer>> alone = partition.transfers().stream().map(List::of).toList();
      Evaluation grouped = evaluate(partition, drawn.call(), feeds, groups, i);
      Evaluation single = evaluate(partition, drawn.call(), feeds, alone, i);
      assertThat(grouped.fetched(drawn.call()))
          .as(where)
          .isEqualTo(Evaluation.whole(drawn.graph(), drawn.call(), feeds));
      if (drawn.call().feeds().isEmpty()) {
        assertThat(grouped.times()).as("%s: groups delay nothing", where).isEqualTo(single.times());
      }
      together += partition.transfers().size() - partition.groups().size();
      assertThat(groups.stream().mapToInt(List::size).sum()).isEqualTo(alone.size());
    }
    assertThat(together).as("seed %d: requests saved", seed).isGreaterThan(GRAPHS);
  }

  /// Shows that the rule is needed: with all receives between two tasks in one group, graphs
  /// deadlock.
  @Test
  void evaluationFindsDeadlocksBetweenGroups() {
    int deadlocks = 0;
    for (int i = 0; i < 100; i++) {
      RandomGraphs drawn = RandomGraphs.draw(i);
      GraphPartition partition = partitioner.partition(drawn.graph());
      Map<List<Task>, List<Transfer>> pairs = new LinkedHashMap<>();
      for (Transfer transfer : partition.transfers()) {
        pairs
            .computeIfAbsent(
                List.of(transfer.source(), transfer.destination()), pair -> new ArrayList<>())
            .add(transfer);
      }
      try {
        evaluate(partition, drawn.call(), feeds(drawn.call()), List.copyOf(pairs.values()), i);
      } catch (Evaluation.Deadlock expected) {
        deadlocks++;
      }
    }
    assertThat(deadlocks).isGreaterThan(10);
  }

  @Test
  void sessionsOfThePartsMatchASessionOfTheWholeGraph() {
    for (int i = 0; i < SESSIONS; i++) {
      RandomGraphs drawn = RandomGraphs.draw(seed + i);
      Map<String, Tensor> feeds = new HashMap<>();
      feeds(drawn.call()).forEach((name, value) -> feeds.put(name, TFloat32.scalarOf(value)));
      Map<String, List<Byte>> expected = new TreeMap<>();
      Map<String, List<Byte>> actual = new TreeMap<>();
      try (Graph graph = new Graph();
          PartSessions parts = new PartSessions(partitioner.partition(drawn.graph()))) {
        graph.importGraphDef(local(drawn));
        try (Session session = new Session(graph, PartSessions.PLAIN)) {
          Session.Runner runner = session.runner();
          feeds.forEach(runner::feed);
          drawn.call().targets().forEach(runner::addTarget);
          drawn.call().fetches().forEach(runner::fetch);
          try (Result result = runner.run()) {
            for (int j = 0; j < drawn.call().fetches().size(); j++) {
              expected.put(drawn.call().fetches().get(j), list(PartSessions.bytes(result.get(j))));
            }
          }
        }
        parts.run(drawn.call(), feeds).forEach((name, bytes) -> actual.put(name, list(bytes)));
      } finally {
        feeds.values().forEach(Tensor::close);
      }
      assertThat(actual).as("-Dweft.test.seed=%d graph %d", seed, i).isEqualTo(expected);
    }
  }

  @Test
  void equalGraphsGiveEqualPartitions() {
    for (int i = 0; i < 20; i++) {
      RandomGraphs drawn = RandomGraphs.draw(seed + i);
      GraphPartition again =
          new Partitioner(CLUSTER, new Task("worker", 0)).partition(drawn.graph());
      assertThat(again.parts())
          .as("-Dweft.test.seed=%d graph %d", seed, i)
          .isEqualTo(partitioner.partition(drawn.graph()).parts());
    }
  }

  private static org.tensorflow.proto.GraphDef local(RandomGraphs drawn) {
    var local = drawn.graph().toBuilder();
    local.getNodeBuilderList().forEach(node -> node.setDevice(""));
    return local.build();
  }

  private static Evaluation evaluate(
      GraphPartition partition,
      GraphCall call,
      Map<String, Float> feeds,
      List<List<Transfer>> groups,
      int order) {
    return new Evaluation(partition, call, feeds, groups, new Random(order));
  }

  private static Map<String, Float> feeds(GraphCall call) {
    Map<String, Float> feeds = new HashMap<>();
    call.feeds().forEach(name -> feeds.put(name, feeds.size() + 0.5f));
    return feeds;
  }

  private static List<Byte> list(byte[] bytes) {
    List<Byte> list = new ArrayList<>();
    for (byte one : bytes) {
      list.add(one);
    }
    return list;
  }
}
