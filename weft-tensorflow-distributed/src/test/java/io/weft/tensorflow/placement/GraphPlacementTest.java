// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.placement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.graph.GraphIndex;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tensorflow.proto.GraphDef;

class GraphPlacementTest {

  private static final ClusterSpec CLUSTER =
      ClusterSpec.of(Map.of("ps", List.of("a:1", "b:1"), "worker", List.of("c:1", "d:1")));
  private static final Task WORKER = new Task("worker", 1);
  private static final OpTypes TYPES = OpTypes.registered();

  @ParameterizedTest
  @CsvSource({
    "'', worker, 1",
    "/cpu:0, worker, 1",
    "/job:worker, worker, 1",
    "/job:worker/task:0, worker, 0",
    "/task:0, worker, 0",
    "/job:ps, ps, 0",
    "/job:ps/replica:0/task:1/device:CPU:0, ps, 1"
  })
  void nodeRunsWhereItsDeviceSays(String device, String job, int index) {
    assertThat(place(new Nodes().add("a", "Const", device).build()).taskOf("a:0"))
        .isEqualTo(new Task(job, index));
  }

  @ParameterizedTest
  @CsvSource({
    "/job:chief, is not a task",
    "/job:ps/task:2, is not a task: the cluster has /job:ps/task:0",
    "/job:ps/replica:1/task:0, replica 0 only",
    "job:ps, is wrong from"
  })
  void unknownDeviceIsNamedWithItsNode(String device, String message) {
    GraphDef graph = new Nodes().add("a", "Const", device).build();
    assertThatThrownBy(() -> place(graph))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageStartingWith("node 'a'")
        .hasMessageContaining(message);
  }

  @Test
  void nodesArePlacedWithTheirVariable() {
    GraphPlacement placement =
        place(
            new Nodes()
                .variable("v", "/job:ps/task:1", 4)
                .add("read", "ReadVariableOp", "", "v")
                .add("ref", "VariableV2", "/job:ps/task:1")
                .add("one", "Const", "")
                .add("assign", "AssignAdd", "", "ref", "one")
                .add("sum", "AddV2", "", "ref", "read")
                .build());
    assertThat(List.of("read", "assign")).allMatch(n -> placement.taskOf(n).index() == 1);
    assertThat(placement.taskOf("read").job()).isEqualTo("ps");
    assertThat(placement.taskOf("assign").job()).isEqualTo("ps");
    assertThat(placement.taskOf("one")).isEqualTo(WORKER);
    assertThat(placement.taskOf("sum")).as("takes the value of the reference").isEqualTo(WORKER);
  }

  @Test
  void variableIsNotSeparatedFromItsUsers() {
    GraphDef graph =
        new Nodes()
            .variable("v", "/job:ps/task:1", 4)
            .add("read", "ReadVariableOp", "/job:worker/task:0", "v")
            .build();
    assertThatThrownBy(() -> place(graph))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "node 'v' is on /job:ps/task:1 and node 'read' on /job:worker/task:0, but must share"
                + " a task: node 'read' directly uses the variable or resource of 'v'; give both"
                + " one device");
  }

  @Test
  void colocationClassesAreHonoured() {
    GraphPlacement placement =
        place(
            new Nodes()
                .add("a", "Const", "/job:ps/task:1")
                .add("b", "Const", "")
                .with("a")
                .add("c", "Const", "/job:ps")
                .with("b")
                .add("d", "Const", "")
                .with("somewhere")
                .add("e", "Const", "/job:ps/task:0")
                .with("somewhere")
                .build());
    assertThat(placement.taskOf("b")).isEqualTo(new Task("ps", 1));
    assertThat(placement.taskOf("c")).isEqualTo(new Task("ps", 1));
    assertThat(placement.taskOf("d")).isEqualTo(new Task("ps", 0));
  }

  @Test
  void conflictingColocationClassesAreNamed() {
    GraphDef near =
        new Nodes()
            .add("a", "Const", "/job:ps/task:1")
            .add("b", "Const", "/job:ps/task:0")
            .with("a")
            .build();
    assertThatThrownBy(() -> place(near))
        .hasMessageContaining("node 'a' is on /job:ps/task:1 and node 'b' on /job:ps/task:0")
        .hasMessageContaining("_class of node 'b' names 'a'");
    GraphDef far =
        new Nodes()
            .add("a", "Const", "/job:ps/task:1")
            .add("b", "Const", "")
            .with("a")
            .add("c", "Const", "/job:worker")
            .with("b")
            .build();
    assertThatThrownBy(() -> place(far))
        .hasMessageContaining("node 'a' is on /job:ps/task:1 and node 'c' on /job:worker");
  }

  @Test
  void malformedGraphIsRefused() {
    assertThatThrownBy(() -> place(new Nodes().add("a", "Const", "").add("a", "Const", "").build()))
        .hasMessage("the graph has two nodes 'a'");
    assertThatThrownBy(() -> place(new Nodes().add("a", "Neg", "", "b:1").build()))
        .hasMessage("node 'a' has the input 'b:1', which is not in the graph");
    assertThatThrownBy(() -> place(new Nodes().add("a", "Nonesuch", "").build()))
        .hasMessageContaining("node 'a' is a Nonesuch, which is not an op");
    assertThatThrownBy(() -> place(new Nodes().build()).taskOf("x:0"))
        .hasMessage("the graph has no node 'x'");
  }

  private static GraphPlacement place(GraphDef graph) {
    return new GraphPlacement(new GraphIndex(graph), TYPES.with(graph), CLUSTER, WORKER);
  }
}
