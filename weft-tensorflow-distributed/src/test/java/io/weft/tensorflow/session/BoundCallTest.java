// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.partition.GraphPartition;
import io.weft.tensorflow.partition.Partitioner;
import io.weft.tensorflow.partition.Transfer;
import io.weft.tensorflow.placement.Nodes;
import io.weft.tensorflow.transfer.TransferLibrary;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.tensorflow.Graph;
import org.tensorflow.GraphOperation;
import org.tensorflow.ndarray.Shape;

/// Checks calls of the parts of a graph whose server has a variable that its worker uses.
class BoundCallTest {

  private static final Task PS = new Task("ps", 0);
  private static final Task WORKER = new Task("worker", 0);
  private static final String AT_PS = "/job:ps/task:0";
  private static final String AT_WORKER = "/job:worker/task:0";

  private static Partitioner partitioner() {
    return new Partitioner(
        ClusterSpec.of(Map.of("ps", List.of("a:1"), "worker", List.of("b:1"))), WORKER);
  }

  private final GraphPartition partition =
      partitioner()
          .partition(
              new Nodes()
                  .variable("v", AT_PS, 2, 3)
                  .add("read", "ReadVariableOp", AT_PS, "v")
                  .add("negative", "Neg", AT_PS, "read")
                  .add("used", "Neg", AT_WORKER, "read")
                  .add("used2", "Neg", AT_WORKER, "negative")
                  .build());

  @BeforeAll
  static void load() {
    var unused = TransferLibrary.load();
  }

  private BoundCall bind(Task task, List<String> fetches, List<String> targets) {
    try (Graph graph = new Graph()) {
      graph.importGraphDef(partition.parts().get(task), "g");
      BoundCall call = BoundCall.bind(graph, "g/", new GraphCall(List.of(), fetches, targets), 7);
      GraphOperation target = call.target();
      if (targets.size() > 1) {
        assertThat(target).isNotNull();
        assertThat(target.controlInputs().stream().map(GraphOperation::name))
            .containsExactlyInAnyOrderElementsOf(targets.stream().map("g/"::concat).toList());
      }
      return call;
    }
  }

  private List<String> sends(int count) {
    return partition.parts().get(PS).getNodeList().stream()
        .filter(node -> node.getOp().equals("WeftSend"))
        .map(node -> node.getName())
        .limit(count)
        .toList();
  }

  @Test
  void partThatReadsVariablesAndSendsThemIsLight() {
    String plain =
        partition.parts().get(PS).getNodeList().stream()
            .filter(node -> node.getOp().equals("WeftSend") && node.getInput(0).equals("read:0"))
            .findFirst()
            .orElseThrow()
            .getName();
    assertThat(bind(PS, List.of(), List.of(plain)).isLight()).isTrue();
    assertThat(bind(PS, List.of("read:0"), List.of(plain, "v")).isLight()).isTrue();
  }

  @Test
  void sendsOfALightCallAreOneNode() {
    Nodes nodes = new Nodes();
    for (String name : List.of("u", "v", "w")) {
      nodes
          .variable(name, AT_PS, 2)
          .add("read_" + name, "ReadVariableOp", AT_PS, name)
          .add("used_" + name, "Neg", AT_WORKER, "read_" + name);
    }
    GraphPartition three = partitioner().partition(nodes.build());
    try (Graph graph = new Graph()) {
      graph.importGraphDef(three.parts().get(PS), "g");
      List<String> sends = three.transfers().stream().map(Transfer::send).toList();
      GraphCall two = new GraphCall(List.of(), List.of(), sends.subList(1, 3));
      GraphOperation both = BoundCall.bind(graph, "g/", two, 1).target();
      assertThat(both).isNotNull();
      assertThat(both.type()).isEqualTo("WeftSend");
      assertThat(both.inputs().stream().map(input -> input.asOutput().op().name()))
          .containsExactly("g/read_v", "g/read_w");
      assertThat(both.attributes().getAttrStringList("edges"))
          .containsExactly(three.transfers().get(1).edge(), three.transfers().get(2).edge());
      GraphCall more =
          new GraphCall(List.of(), List.of(), List.of(sends.get(0), "u", sends.get(1)));
      GraphOperation all = BoundCall.bind(graph, "g/", more, 2).target();
      assertThat(all).isNotNull();
      assertThat(all.controlInputs().stream().map(GraphOperation::type))
          .containsExactlyInAnyOrder("WeftSend", "VarHandleOp");
    }
  }

  @Test
  void partThatComputesOrReceivesIsNotLight() {
    assertThat(sends(2)).hasSize(2);
    assertThat(bind(PS, List.of(), sends(2)).isLight()).isFalse();
    assertThat(bind(PS, List.of("negative:0"), List.of()).isLight()).isFalse();
    String receive =
        partition.parts().get(WORKER).getNodeList().stream()
            .filter(node -> node.getOp().equals("WeftRecv"))
            .findFirst()
            .orElseThrow()
            .getName();
    assertThat(bind(WORKER, List.of(), List.of(receive)).isLight()).isFalse();
  }

  @Test
  void missingNodeIsNamed() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> bind(PS, List.of("nowhere:0"), List.of()))
        .withMessageContaining("g/nowhere");
  }

  @Test
  void receivesKeepTheShapesOfTheWholeGraph() {
    try (Graph graph = new Graph()) {
      graph.importGraphDef(partition.parts().get(WORKER), "g");
      assertThat(graph.operation("g/used").output(0).shape()).isEqualTo(Shape.of(2, 3));
    }
  }
}
