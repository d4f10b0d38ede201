// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.partition.Partitioner;
import io.weft.tensorflow.placement.Nodes;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.tensorflow.Graph;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;

class FusedReceivesTest {

  private static final Task WORKER = new Task("worker", 0);
  private static final String AT_PS = "/job:ps/task:0";
  private static final String AT_WORKER = "/job:worker/task:0";

  @BeforeAll
  static void load() {
    var unused = TransferLibrary.load();
  }

  private static GraphDef part(Nodes nodes) {
    return new Partitioner(
            ClusterSpec.of(Map.of("ps", List.of("a:1"), "worker", List.of("b:1"))), WORKER)
        .partition(nodes.build())
        .parts()
        .get(WORKER);
  }

  private static Map<String, NodeDef> receives(GraphDef part) {
    return part.getNodeList().stream()
        .filter(node -> node.getOp().equals("WeftRecv"))
        .collect(Collectors.toMap(NodeDef::getName, Function.identity()));
  }

  private static Nodes variable(Nodes nodes, String name, long... dims) {
    return nodes
        .variable(name, AT_PS, dims)
        .add("read_" + name, "ReadVariableOp", AT_PS, name)
        .add("used_" + name, "Neg", AT_WORKER, "read_" + name);
  }

  @Test
  void shortReceivesOfAGroupAreOneNode() {
    Nodes nodes = new Nodes();
    variable(nodes, "a", 2, 3);
    variable(nodes, "long", 1025); // 4100 bytes
    variable(nodes, "b", 1024);
    variable(nodes, "scalar");
    nodes.add("behind", "Neg", AT_WORKER, "used_long", "^read_b");
    GraphDef plain = part(nodes);
    assertThat(receives(plain)).hasSize(5); // one for the control edge
    GraphDef fused = FusedReceives.of(plain);
    Map<String, NodeDef> left = receives(fused);
    assertThat(left).hasSize(3);
    NodeDef one = left.get("transfer/0/receive");
    assertThat(one.getAttrOrThrow("N").getI()).isEqualTo(3);
    assertThat(
            one.getAttrOrThrow("edges").getList().getSList().stream().map(it -> it.toStringUtf8()))
        .containsExactly("0:read_a:0", "2:read_b:0", "3:read_scalar:0");
    try (Graph graph = new Graph()) {
      graph.importGraphDef(fused);
      assertThat(graph.operation("used_a").output(0).shape()).isEqualTo(Shape.of(2, 3));
      assertThat(graph.operation("used_b").output(0).shape()).isEqualTo(Shape.of(1024));
      assertThat(graph.operation("used_scalar").output(0).shape()).isEqualTo(Shape.scalar());
      assertThat(graph.operation("used_b").input(0).toString()).contains("transfer/0/receive:1");
      assertThat(graph.operation("used_long").input(0).op().name()).isEqualTo("transfer/1/receive");
    }
  }

  @Test
  void receivesOfShortExamplesInAnUnknownBatchAreOneNode() {
    Nodes nodes = new Nodes();
    variable(nodes, "lookup_a", -1, 16); // 64 bytes an example
    variable(nodes, "lookup_b", -1, 8);
    variable(nodes, "known", 4);
    variable(nodes, "wide", -1, 17);
    variable(nodes, "unknown", -1, -1);
    GraphDef fused = FusedReceives.of(part(nodes));
    assertThat(receives(fused).values())
        .extracting(node -> node.getAttrOrThrow("N").getI())
        .containsExactlyInAnyOrder(3L, 1L, 1L);
    try (Graph graph = new Graph()) {
      graph.importGraphDef(fused);
      assertThat(graph.operation("used_lookup_b").output(0).shape().asArray())
          .containsExactly(Shape.UNKNOWN_SIZE, 8);
    }
  }

  @Test
  void singleShortReceiveIsUnchanged() {
    Nodes nodes = new Nodes();
    variable(nodes, "a", 2, 3);
    variable(nodes, "long", 1025);
    GraphDef plain = part(nodes);
    assertThat(FusedReceives.of(plain)).isSameAs(plain);
  }

  @Test
  void receivesOfLaterLevelsAreSeparateNodes() {
    Nodes nodes = new Nodes();
    variable(nodes, "a", 2);
    variable(nodes, "b", 2);
    nodes
        .add("late_a", "Neg", AT_PS, "read_a")
        .add("late_b", "Neg", AT_PS, "read_b")
        .add("used_late_a", "Neg", AT_WORKER, "late_a")
        .add("used_late_b", "Neg", AT_WORKER, "late_b");
    assertThat(receives(FusedReceives.of(part(nodes))).values())
        .extracting(node -> node.getAttrOrThrow("N").getI())
        .containsExactlyInAnyOrder(2L, 2L);
  }
}
