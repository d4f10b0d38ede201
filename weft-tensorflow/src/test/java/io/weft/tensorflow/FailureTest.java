// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.collective.CollectiveOptions;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Session;
import org.tensorflow.op.Ops;
import org.tensorflow.types.TFloat32;

class FailureTest {

  private final InMemoryRanks ranks = new InMemoryRanks(2);

  @AfterEach
  void close() {
    ranks.close();
  }

  @Test
  void lostPeerFailsTheRunningStepWithItsName() throws Exception {
    List<Throwable> failures =
        Together.failures(
            1,
            rank ->
                () -> {
                  Thread loser = Thread.ofVirtual().unstarted(this::loseRankOneOnceItIsAwaited);
                  try (Graph graph = new Graph()) {
                    Operand<TFloat32> sum = allreduce(graph, 0, "w", new float[] {1});
                    loser.start();
                    try (Session session = new Session(graph)) {
                      session.runner().fetch(sum).run().close();
                      return null;
                    }
                  }
                });
    assertThat(failures.getFirst()).hasMessageContaining("rank 1 on node1 closed its connection");
    assertThat(OpLibrary.load().failure(ranks.of(0)))
        .containsInstanceOf(CommException.PeerLost.class);
  }

  @Test
  void stepAfterTheLossFailsAtOnce() {
    ranks.lose(1);
    try (Graph graph = new Graph()) {
      Operand<TFloat32> sum = allreduce(graph, 0, "w", new float[] {1});
      try (Session session = new Session(graph)) {
        for (int step = 0; step < 2; step++) {
          assertThatThrownBy(() -> session.runner().fetch(sum).run())
              .hasMessageContaining("rank 1 on node1");
          assertThat(OpLibrary.load().failure(ranks.of(0)))
              .containsInstanceOf(CommException.PeerLost.class);
        }
      }
    }
  }

  @Test
  void disagreementFailsAllRanksAndAllOpsInFlight() throws Exception {
    List<Throwable> failures =
        Together.failures(
            2,
            rank ->
                () -> {
                  try (Graph graph = new Graph()) {
                    Operand<TFloat32> w = allreduce(graph, rank, "w", new float[1 + rank]);
                    Operand<TFloat32> alone = allreduce(graph, rank, "only" + rank, new float[1]);
                    try (Session session = new Session(graph)) {
                      session.runner().fetch(w).fetch(alone).run().close();
                      return null;
                    }
                  }
                });
    assertThat(failures)
        .allSatisfy(failure -> assertThat(failure).hasMessageContaining("'w': FLOAT32"));
  }

  @Test
  void unknownCommunicatorOfAGraphIsNamed() {
    OpLibrary.load();
    try (Graph graph = new Graph()) {
      Operand<TFloat32> x = Ops.create(graph).constant(new float[] {1});
      Operand<TFloat32> y = new WeftOps(graph.baseScope(), 123_456).allreduce(x, "x", ReduceOp.SUM);
      try (Session session = new Session(graph)) {
        assertThatThrownBy(() -> session.runner().fetch(y).run())
            .hasMessageContaining("communicator 123456 is not known in this process");
      }
    }
  }

  @Test
  void sameTensorNameTwiceInOneStepIsRefused() {
    try (Graph graph = new Graph()) {
      Operand<TFloat32> x = Ops.create(graph).constant(new float[] {1});
      int communicator = OpLibrary.load().numberOf(ranks.of(0));
      for (String node : List.of("a", "b")) {
        graph
            .opBuilder(OpLibrary.ALLREDUCE, node, graph.baseScope())
            .addInputList(new org.tensorflow.Output<?>[] {x.asOutput()})
            .setAttr("tensor_name", "same")
            .setAttr("communicator", communicator)
            .setAttr("op", "SUM")
            .build();
      }
      Thread partner = Thread.ofVirtual().start(this::contributeOnceTheSecondUseIsRefused);
      try (Session session = new Session(graph)) {
        assertThatThrownBy(() -> session.runner().fetch("a").fetch("b").run())
            .hasMessageContaining("'same'")
            .hasMessageContaining("in flight");
      }
      assertThat(partner).isNotNull();
    }
  }

  /// Contributes only after the refusal of the second use, so that the first use completes and the
  /// refusal is the step's only failure.
  private void contributeOnceTheSecondUseIsRefused() {
    while (ranks.refused() == 0) {
      Thread.onSpinWait();
    }
    TensorView one = new TensorView(DType.FLOAT32, Shape.of(1), Arena.ofAuto().allocate(4, 4));
    var unused = ranks.of(1).allreduce(one, one, ReduceOp.SUM, CollectiveOptions.named("same"));
  }

  private void loseRankOneOnceItIsAwaited() {
    while (ranks.waiting() == 0) {
      Thread.onSpinWait();
    }
    ranks.lose(1);
  }

  private Operand<TFloat32> allreduce(Graph graph, int rank, String name, float[] value) {
    return new WeftOps(graph, ranks.of(rank))
        .allreduce(Ops.create(graph).constant(value), name, ReduceOp.SUM);
  }
}
