// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.graph.GraphIndex;
import io.weft.tensorflow.placement.GraphPlacement;
import io.weft.tensorflow.placement.Nodes;
import io.weft.tensorflow.placement.OpTypes;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tensorflow.proto.AttrValue;
import org.tensorflow.proto.DataType;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;

class PartitionerTest {

  private static final Task PS = new Task("ps", 0);
  private static final Task WORKER = new Task("worker", 0);
  private static final String AT_PS = "/job:ps/task:0";
  private static final String AT_WORKER = "/job:worker/task:0/device:CPU:0";

  private static final ClusterSpec CLUSTER =
      ClusterSpec.of(Map.of("ps", List.of("a:1"), "worker", List.of("b:1")));

  private final Partitioner partitioner = new Partitioner(CLUSTER, WORKER);

  @Test
  void tensorIsSentOnceToEachTaskThatUsesIt() {
    GraphPartition partition =
        partitioner.partition(
            new Nodes()
                .add("v", "Const", AT_PS)
                .add("a", "Neg", AT_WORKER, "v")
                .add("b", "AddV2", AT_WORKER, "v:0", "a")
                .build());
    assertThat(partition.transfers()).hasSize(1);
    Transfer transfer = partition.transfers().getFirst();
    assertThat(transfer.edge()).isEqualTo("0:v:0");
    assertThat(transfer.type()).isEqualTo(DataType.DT_FLOAT);
    assertThat(nodes(partition, PS)).containsOnlyKeys("v", "transfer/0/send");
    Map<String, NodeDef> worker = nodes(partition, WORKER);
    assertThat(worker).containsOnlyKeys("a", "b", "transfer/0/receive");
    assertThat(worker.get("a").getInputList()).containsExactly("transfer/0/receive");
    assertThat(worker.get("b").getInputList()).containsExactly("transfer/0/receive", "a");
    assertThat(worker.get("a").getDevice()).isEqualTo("/device:CPU:0");
    NodeDef send = nodes(partition, PS).get("transfer/0/send");
    NodeDef receive = worker.get("transfer/0/receive");
    assertThat(send.getInputList()).containsExactly("v:0");
    assertThat(receive.getOp()).isEqualTo("WeftRecv");
    assertThat(receive.getAttrMap()).containsAllEntriesOf(send.getAttrMap());
    assertThat(receive.getAttrMap()).hasSize(send.getAttrCount() + 1).containsKey("_output_shapes");
    assertThat(send.getAttrMap())
        .containsOnlyKeys(
            "T", "N", "tensor_names", "edges", "source", "destination", "group", "_urgency")
        .containsEntry("source", Attributes.of("/job:ps/task:0"))
        .containsEntry("destination", Attributes.of("/job:worker/task:0"))
        .containsEntry("tensor_names", Attributes.ofTexts(List.of("v:0")));
  }

  @Test
  void controlEdgesIntoOneNodeAreOneTransfer() {
    GraphPartition partition =
        partitioner.partition(
            new Nodes()
                .add("a", "NoOp", AT_PS)
                .add("b", "NoOp", AT_PS)
                .add("train", "NoOp", AT_WORKER, "^b", "^a")
                .build());
    assertThat(partition.transfers()).map(Transfer::tensor).containsExactly("^a and 1 more");
    NodeDef signal = nodes(partition, PS).get("transfer/0/signal");
    assertThat(signal.getInputList()).containsExactly("^a", "^b");
    assertThat(signal.getAttrOrThrow("dtype").getType()).isEqualTo(DataType.DT_INT32);
    assertThat(nodes(partition, WORKER).get("train").getInputList())
        .containsExactly("^transfer/0/receive");
    assertThat(nodes(partition, WORKER)).doesNotContainKey("transfer/0/shaped");
  }

  @Test
  void valueOfAReferenceIsSentAsAValue() {
    GraphPartition partition =
        partitioner.partition(
            new Nodes()
                .add("v", "VariableV2", AT_PS)
                .attribute("shape", Attributes.of(Attributes.EMPTY))
                .add("neg", "Neg", AT_WORKER, "v")
                .build());
    assertThat(partition.transfers())
        .singleElement()
        .satisfies(
            transfer -> {
              assertThat(transfer.type()).isEqualTo(DataType.DT_FLOAT);
              assertThat(transfer.shape()).isEqualTo(Attributes.EMPTY);
            });
  }

  @Test
  void unknownShapeIsNotEnsured() {
    Nodes nodes =
        new Nodes()
            .add("x", "Placeholder", AT_PS)
            .attribute(
                "shape",
                Attributes.of(
                    Attributes.EMPTY.toBuilder().clearDim().setUnknownRank(true).build()));
    Nodes unknown = nodes.add("neg", "Neg", AT_WORKER, "x");
    assertThat(nodes(partitioner.partition(unknown.build()), WORKER).get("neg").getInputList())
        .containsExactly("transfer/0/receive");
  }

  @Test
  void onlyNeededNodesArePartitioned() {
    GraphDef graph =
        new Nodes()
            .add("a", "Const", AT_PS)
            .add("b", "Neg", AT_WORKER, "a")
            .with("c")
            .add("c", "Neg", AT_WORKER, "b")
            .build();
    GraphPartition partition = partitioner.partition(graph, List.of("b:0"));
    assertThat(nodes(partition, WORKER)).doesNotContainKey("c");
    assertThat(nodes(partition, WORKER).get("b").containsAttr("_class")).isFalse();
    assertThat(partition.taskOf("b:0")).isEqualTo(WORKER);
    assertThatThrownBy(() -> partition.taskOf("c")).hasMessage("the graph has no node 'c'");
    assertThatThrownBy(() -> partitioner.partition(graph, List.of("d")))
        .hasMessage("the graph has no node 'd'");
  }

  @Test
  void callIsPlannedForEachTask() {
    GraphPartition partition =
        partitioner.partition(
            new Nodes()
                .add("x", "Placeholder", AT_WORKER)
                .add("v", "Const", AT_PS)
                .add("y", "AddV2", AT_WORKER, "x", "v")
                .add("z", "Neg", AT_PS, "y")
                .add("init", "NoOp", AT_PS)
                .build());
    assertThat(partition.plan(new GraphCall(List.of("x"), List.of("z"), List.of())))
        .isEqualTo(
            Map.of(
                PS,
                new GraphCall(List.of(), List.of("z"), List.of("transfer/0/send")),
                WORKER,
                new GraphCall(List.of("x"), List.of(), List.of("transfer/1/send"))));
    assertThat(partition.plan(new GraphCall(List.of("y"), List.of("z"), List.of())))
        .as("what is fed is not computed")
        .isEqualTo(
            Map.of(
                PS,
                new GraphCall(List.of(), List.of("z"), List.of()),
                WORKER,
                new GraphCall(List.of("y"), List.of(), List.of("transfer/1/send"))));
    assertThat(partition.plan(new GraphCall(List.of(), List.of(), List.of("init"))))
        .containsOnlyKeys(PS);
  }

  @ParameterizedTest
  @CsvSource({
    "StringJoin, strings cannot be transferred",
    "EmptyTensorList, a DT_VARIANT stays on its task"
  })
  void tensorThatCannotBeTransferredIsNamed(String op, String why) {
    Nodes nodes = new Nodes();
    AttrValue none = Attributes.of(0);
    if (op.equals("StringJoin")) {
      nodes.add("a", op, AT_PS).attribute("N", none);
    } else {
      nodes.add("shape", "Const", AT_PS).add("a", op, AT_PS, "shape", "shape");
      nodes.attribute("element_dtype", Attributes.of(DataType.DT_FLOAT));
      nodes.attribute("shape_type", Attributes.of(DataType.DT_INT32));
    }
    GraphDef graph = nodes.add("b", "Identity", AT_WORKER, "a").build();
    assertThatThrownBy(() -> partitioner.partition(graph))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "the edge from 'a:0' on /job:ps/task:0 to 'b' on /job:worker/task:0 cannot be cut: "
                + why
                + "; put both nodes on one task");
  }

  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '`',
      value = {
        "branch, 'branch' runs in one branch of a conditional (Switch to Merge)",
        "next, 'next' runs inside a loop (Enter to Exit)",
        "body, 'body' runs inside a loop (Enter to Exit)"
      })
  void edgeFromInsideControlFlowIsNotCut(String source, String why) {
    GraphDef graph = controlFlow().add("out", "Identity", AT_PS, source).build();
    assertThatThrownBy(() -> partitioner.partition(graph))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("'" + source + ":0' on /job:worker/task:0 to 'out' on /job:ps")
        .hasMessageContaining(why);
  }

  @ParameterizedTest
  @CsvSource({"merge", "exit"})
  void edgeOutOfControlFlowIsCut(String source) {
    GraphDef graph = controlFlow().add("out", "Shape", AT_PS, source).build();
    assertThat(new ControlFlow(new GraphIndex(graph)))
        .satisfies(flow -> assertThat(flow.obstacle(source, "out")).isEmpty())
        .satisfies(flow -> assertThat(flow.obstacle("x", "enter")).isEmpty())
        .satisfies(flow -> assertThat(flow.obstacle("x", "switch")).isEmpty())
        .satisfies(flow -> assertThat(flow.obstacle("x", "body")).isNotEmpty());
  }

  @Test
  void cycleThatIsNotALoopIsNamed() {
    GraphDef graph =
        new Nodes()
            .add("a", "Neg", AT_PS, "c")
            .add("b", "Neg", AT_PS, "a")
            .add("c", "Neg", AT_PS, "b")
            .build();
    assertThatThrownBy(() -> partitioner.partition(graph))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("depend on each other, and are not a loop");
  }

  /// `early` is used at once by a long path over both tasks, `late` only at its end, and `free` by
  /// nodes of negligible cost.
  @Test
  void urgencyIsTheLongestPathThatDependsOnATransfer() {
    GraphPartition partition =
        partitioner.partition(
            new Nodes()
                .add("late", "Const", AT_PS)
                .add("early", "Const", AT_PS)
                .add("free", "Const", AT_PS)
                .add("a", "Neg", AT_WORKER, "early")
                .add("b", "Neg", AT_WORKER, "a")
                .add("c", "Neg", AT_PS, "b")
                .add("d", "AddV2", AT_WORKER, "c", "late")
                .add("e", "Identity", AT_WORKER, "free")
                .add("f", "Shape", AT_WORKER, "early")
                .add("wait", "NoOp", AT_WORKER, "^late")
                .build());
    assertThat(urgencies(partition))
        .isEqualTo(
            Map.of(
                "early:0", 6L, // a, b, transfer, c, transfer, d
                "b:0", 3L, // c, transfer, d
                "c:0", 1L, // d
                "late:0", 1L,
                "free:0", 0L,
                "^late", 0L));
  }

  @Test
  void aTransferToSeveralUsersHasTheUrgencyOfTheLongestPath() {
    GraphPartition partition =
        partitioner.partition(
            new Nodes()
                .add("v", "Const", AT_PS)
                .add("short", "Neg", AT_WORKER, "v")
                .add("one", "Neg", AT_WORKER, "v")
                .add("two", "Neg", AT_WORKER, "one")
                .add("x", "Const", AT_WORKER)
                .add("other", "Neg", AT_PS, "x")
                .build());
    assertThat(urgencies(partition)).isEqualTo(Map.of("v:0", 2L, "x:0", 1L));
  }

  @Test
  void aLoopCountsAsOneOpInAnUrgency() {
    GraphDef graph =
        controlFlow()
            .add("v", "Const", AT_PS)
            .add("start", "Enter", AT_WORKER, "v")
            .attribute("frame_name", Attributes.of("second"))
            .add("again", "Merge", AT_WORKER, "start", "back")
            .attribute("N", Attributes.of(2))
            .add("go", "LoopCond", AT_WORKER, "again")
            .add("either", "Switch", AT_WORKER, "again", "go")
            .add("done", "Exit", AT_WORKER, "either")
            .add("inner", "Neg", AT_WORKER, "either:1")
            .add("back", "NextIteration", AT_WORKER, "inner")
            .add("out", "Neg", AT_PS, "done")
            .add("branches", "Neg", AT_PS, "merge")
            .build();
    GraphIndex index = new GraphIndex(graph);
    Levels levels =
        new Levels(
            index, new GraphPlacement(index, OpTypes.registered().with(graph), CLUSTER, WORKER));
    assertThat(levels.remaining("out")).isEqualTo(1);
    assertThat(levels.remaining("done")).as("Exit, transfer, Neg").isEqualTo(3);
    assertThat(levels.remaining("inner")).as("the loop, Exit, transfer, Neg").isEqualTo(4);
    assertThat(levels.remaining("start")).as("Enter, loop, Exit, transfer, Neg").isEqualTo(5);
    assertThat(levels.remaining("switch")).as("Switch to Merge, transfer, Neg").isEqualTo(5);
  }

  @Test
  void functionOfAnotherTaskIsNamed() {
    GraphDef.Builder graph =
        new Nodes().add("a", "Const", AT_PS).add("call", "twice", AT_PS, "a").build().toBuilder();
    var function = graph.getLibraryBuilder().addFunctionBuilder();
    function.getSignatureBuilder().setName("twice");
    function.addNodeDefBuilder().setName("inner").setOp("NoOp").setDevice("/job:ps/device:CPU:0");
    GraphDef local = graph.build();
    assertThat(
            partitioner
                .partition(local, List.of("a"))
                .parts()
                .get(PS)
                .getLibrary()
                .getFunction(0)
                .getNodeDef(0)
                .getDevice())
        .isEqualTo("/device:CPU:0");
    function.getNodeDefBuilder(0).setDevice("/job:worker");
    assertThatThrownBy(() -> partitioner.partition(graph.build()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("node 'call' on /job:ps/task:0 calls the function 'twice'")
        .hasMessageContaining("node 'inner' is on /job:worker");
  }

  @Test
  void partsKeepTheVersionsAndHaveUniqueNames() {
    GraphDef.Builder graph =
        new Nodes()
                .add("transfer/0/send", "Const", AT_PS)
                .add("b", "Neg", AT_WORKER, "transfer/0/send")
                .build()
                .toBuilder();
    graph.getVersionsBuilder().setProducer(1882);
    GraphPartition partition = partitioner.partition(graph.build());
    assertThat(partition.parts().values())
        .allMatch(part -> part.getVersions().getProducer() == 1882);
    assertThat(nodes(partition, PS)).containsOnlyKeys("transfer/0/send", "transfer_1/0/send");
  }

  /// Returns the urgency of each transfer by tensor, the same on both ends.
  private static Map<String, Long> urgencies(GraphPartition partition) {
    Map<String, Long> urgencies = new java.util.HashMap<>();
    for (Transfer transfer : partition.transfers()) {
      NodeDef send = nodes(partition, transfer.source()).get(transfer.send());
      NodeDef receive = nodes(partition, transfer.destination()).get(transfer.receive());
      List<Long> urgency = send.getAttrOrThrow(TransferOps.URGENCIES).getList().getIList();
      assertThat(receive.getAttrOrThrow(TransferOps.URGENCIES).getList().getIList())
          .isEqualTo(urgency);
      urgencies.put(transfer.tensor(), urgency.getFirst());
    }
    return urgencies;
  }

  /// Returns a conditional and a loop on the worker, both with the input `x`.
  private static Nodes controlFlow() {
    return new Nodes()
        .add("x", "Const", AT_WORKER)
        .add("pred", "Const", AT_WORKER)
        .add("switch", "Switch", AT_WORKER, "x", "pred")
        .add("branch", "Neg", AT_WORKER, "switch:1")
        .add("merge", "Merge", AT_WORKER, "switch", "branch")
        .attribute("N", Attributes.of(2))
        .add("enter", "Enter", AT_WORKER, "x")
        .add("join", "Merge", AT_WORKER, "enter", "next")
        .attribute("N", Attributes.of(2))
        .add("cond", "LoopCond", AT_WORKER, "join")
        .add("turn", "Switch", AT_WORKER, "join", "cond")
        .add("exit", "Exit", AT_WORKER, "turn")
        .add("body", "Neg", AT_WORKER, "turn:1")
        .add("next", "NextIteration", AT_WORKER, "body");
  }

  private static Map<String, NodeDef> nodes(GraphPartition partition, Task task) {
    Map<String, NodeDef> nodes = new java.util.HashMap<>();
    for (NodeDef node : partition.parts().get(task).getNodeList()) {
      nodes.put(node.getName(), node);
    }
    return nodes;
  }
}
