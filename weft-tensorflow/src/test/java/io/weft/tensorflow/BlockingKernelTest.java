// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.tensor.ReduceOp;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.op.Ops;
import org.tensorflow.proto.ConfigProto;
import org.tensorflow.types.TFloat32;

class BlockingKernelTest {

  private static final int OPS = 8;

  private final InMemoryRanks ranks = new InMemoryRanks(2);

  @AfterEach
  void close() {
    ranks.close();
  }

  @Test
  void blockingKernelsReduceWithEnoughThreads() throws Exception {
    ConfigProto threads =
        ConfigProto.newBuilder()
            .setUsePerSessionThreads(true)
            .setInterOpParallelismThreads(OPS + 2)
            .build();
    List<Float> sums =
        Together.run(
            2,
            rank ->
                () -> {
                  try (Graph graph = new Graph()) {
                    Operand<TFloat32> sum = sumOfParallel(graph, rank);
                    try (Session session = new Session(graph, threads);
                        Result result = session.runner().fetch(sum).run()) {
                      return TensorViews.of(result.get(0))
                          .data()
                          .get(ValueLayout.JAVA_FLOAT_UNALIGNED, 0);
                    }
                  }
                });
    assertThat(sums).containsExactly(3f * OPS, 3f * OPS);
  }

  @Test
  void blockingKernelsFailNamingTheLostPeer() {
    ranks.lose(1);
    try (Graph graph = new Graph()) {
      Operand<TFloat32> sum = sumOfParallel(graph, 0);
      try (Session session = new Session(graph)) {
        assertThatThrownBy(() -> session.runner().fetch(sum).run())
            .hasMessageContaining("rank 1 on node1");
      }
    }
  }

  @Test
  void propertySelectsBlockingKernelsAndTheirThreads() throws Exception {
    ChildJvm.Output output =
        ChildJvm.run(
            List.of("-Dweft.tensorflow.async=false"), entry -> true, BlockingProgram.class);
    assertThat(output.text()).contains("mode BLOCKING", "threads enough", "sum 24.0");
    assertThat(output.exitCode()).isZero();
  }

  private Operand<TFloat32> sumOfParallel(Graph graph, int rank) {
    Ops tf = Ops.create(graph);
    int communicator = OpLibrary.load().numberOf(ranks.of(rank), KernelMode.BLOCKING);
    WeftOps weft = new WeftOps(graph.baseScope(), communicator);
    List<Operand<TFloat32>> sums = new ArrayList<>();
    for (int i = 0; i < OPS; i++) {
      int number = rank == 0 ? i : OPS - 1 - i;
      sums.add(weft.allreduce(tf.constant(rank + 1f), "x" + number, ReduceOp.SUM));
    }
    return tf.math.addN(sums);
  }
}
