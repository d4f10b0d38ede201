// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.placement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.Task;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.tensorflow.proto.AttrValue;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;

class ReplicaDeviceSetterTest {

  private static final ClusterSpec CLUSTER =
      ClusterSpec.of(
          Map.of("ps", List.of("a:1", "b:1"), "worker", List.of("c:1", "d:1", "e:1", "f:1")));
  private static final String WORKER = "/job:worker/replica:0/task:3";
  private static final String PS = "/job:ps/replica:0/task:";

  @Test
  void variablesAreDistributedRoundRobin() {
    assertThat(
            devices(
                VariablePlacement.ROUND_ROBIN,
                new Nodes()
                    .variable("u", "", 4)
                    .variable("v", "/device:CPU:0", 4)
                    .variable("w", "", 4)
                    .variable("mine", "/job:worker/task:1", 4)
                    .variable("fixed", "/job:ps/task:0", 4)
                    .variable("x", "/job:ps", 4)
                    .add("read", "ReadVariableOp", "", "v")
                    .add("near", "Const", "")
                    .with("v")
                    .add("neg", "Neg", "/device:CPU:1", "read")
                    .add("there", "Const", "/job:ps")
                    .add("init", "NoOp", "", "^u")
                    .build()))
        .containsExactlyInAnyOrderEntriesOf(
            Map.ofEntries(
                Map.entry("u", PS + 0),
                Map.entry("v", PS + 1 + "/device:CPU:0"),
                Map.entry("w", PS + 0),
                Map.entry("mine", "/job:worker/replica:0/task:1"),
                Map.entry("fixed", "/job:ps/task:0"),
                Map.entry("x", PS + 1),
                Map.entry("read", PS + 1),
                Map.entry("near", PS + 1),
                Map.entry("neg", WORKER + "/device:CPU:1"),
                Map.entry("there", "/job:ps"),
                Map.entry("init", WORKER)));
  }

  @Test
  void bytesAreBalancedLargestFirst() {
    assertThat(
            devices(
                VariablePlacement.BALANCED_BYTES,
                new Nodes()
                    .variable("small", "", 10)
                    .variable("medium", "", 20)
                    .variable("large", "", 5, 7)
                    .variable("there", "/job:ps/task:1", 4)
                    .variable("tail", "", 1)
                    .build()))
        .isEqualTo(
            Map.of(
                "large", PS + 0,
                "there", "/job:ps/task:1",
                "medium", PS + 1,
                "small", PS + 1,
                "tail", PS + 1));
  }

  @Test
  void weightAndItsMomentumStayTogether() {
    AttrValue momentum = Nodes.constant(0.9f);
    GraphDef graph =
        new Nodes()
            .variable("w", "", 4)
            .variable("other", "", 4)
            .variable("slot", "", 4)
            .add("c", "Const", "")
            .attribute("value", momentum)
            .add("apply", "ResourceApplyMomentum", "", "w", "slot", "c", "c", "c")
            .build();
    Map<String, String> devices = devices(VariablePlacement.ROUND_ROBIN, graph);
    assertThat(devices.get("slot")).isEqualTo(devices.get("w")).isEqualTo(devices.get("apply"));
    assertThat(devices.get("other")).isEqualTo(PS + 1);
    assertThat(devices.get("c")).as("only the server uses it").isEqualTo(devices.get("w"));
  }

  @Test
  void constantsArePlacedOnTheOnlyTaskThatUsesThem() {
    GraphDef graph =
        new Nodes()
            .variable("v", "", 4)
            .variable("w", "", 4)
            .add("rate", "Const", "")
            .add("scaled", "Mul", "", "rate", "rate")
            .add("shared", "Const", "")
            .add("mine", "Const", "/job:worker/task:1")
            .add("one", "ResourceApplyGradientDescent", "", "v", "scaled", "shared")
            .add("other", "ResourceApplyGradientDescent", "", "w", "mine", "shared")
            .add("here", "Neg", "", "shared")
            .build();
    Map<String, String> devices = devices(VariablePlacement.ROUND_ROBIN, graph);
    assertThat(devices)
        .containsEntry("rate", PS + 0)
        .containsEntry("scaled", PS + 0)
        .containsEntry("shared", WORKER)
        .containsEntry("mine", "/job:worker/replica:0/task:1");
  }

  @Test
  void unknownShapeCannotBeBalanced() {
    GraphDef graph = new Nodes().variable("v", "", 3, -1).build();
    assertThatThrownBy(() -> devices(VariablePlacement.BALANCED_BYTES, graph))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("variable 'v', a VarHandleOp, has no fully known shape")
        .hasMessageContaining("use ROUND_ROBIN");
  }

  @Test
  void clusterWithoutServersIsRefused() {
    ClusterSpec alone = ClusterSpec.of(Map.of("worker", List.of("a:1")));
    assertThatThrownBy(
            () ->
                ReplicaDeviceSetter.of(alone, new Task("worker", 0), VariablePlacement.ROUND_ROBIN))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("no task to keep variables");
  }

  private static Map<String, String> devices(VariablePlacement strategy, GraphDef graph) {
    return ReplicaDeviceSetter.of(CLUSTER, new Task("worker", 3), strategy)
        .place(graph)
        .getNodeList()
        .stream()
        .collect(Collectors.toMap(NodeDef::getName, NodeDef::getDevice));
  }
}
