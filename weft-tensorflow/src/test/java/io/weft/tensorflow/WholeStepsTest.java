// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.tensor.DType;
import io.weft.tensor.OwnedTensor;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.DistributedOptimizer.Updates;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tensorflow.GraphOperation;
import org.tensorflow.Operand;
import org.tensorflow.framework.optimizers.Adam;
import org.tensorflow.framework.optimizers.Momentum;

/// Checks that a model can continue with another communicator after a step fails in the middle.
class WholeStepsTest {

  private static final List<Shape> SHAPES =
      List.of(Shape.of(8, 16), Shape.of(16), Shape.of(16, 3), Shape.of(3));

  private final InMemoryRanks ranks = new InMemoryRanks(2);
  private final InMemoryRanks survivors = new InMemoryRanks(1);

  @AfterEach
  void close() {
    ranks.close();
    survivors.close();
  }

  /// Reduces all gradients of rank 1 except `last`, and then loses rank 1.
  private void loseRankOneBefore(int last) throws InterruptedException {
    try (OwnedTensor memory = OwnedTensor.allocate(DType.FLOAT32, Shape.of(8 * 16))) {
      for (int i = 0; i < SHAPES.size(); i++) {
        if (i != last) {
          var view =
              new TensorView(
                  DType.FLOAT32,
                  SHAPES.get(i),
                  memory.view().data().asSlice(0, 4 * SHAPES.get(i).elements()));
          var unused =
              ranks
                  .of(1)
                  .allreduce(view, view, ReduceOp.AVERAGE, named("weft/gradient/v" + i))
                  .await();
        }
      }
    }
    ranks.lose(1);
  }

  private static float[] everything(Mlp model) {
    List<Operand<?>> all = new ArrayList<>();
    for (GraphOperation variable : WeftVariables.variables(model.graph)) {
      all.add(variable.output(0));
    }
    assertThat(all).hasSizeGreaterThanOrEqualTo(8);
    return model.values(all);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2, 3})
  void aFailedStepChangesNothingAndTheNextContinuesWithTheSurvivors(int last) throws Exception {
    try (Mlp model =
        new Mlp(
            7,
            null,
            graph ->
                last % 2 == 0
                    ? new DistributedOptimizer(
                        ranks.of(0), new Momentum(graph, 0.05f, 0.9f), Updates.ALL_OR_NONE)
                    : new DistributedOptimizer(
                        ranks.of(0), new Adam(graph, 0.01f), Updates.ALL_OR_NONE))) {
      float[] before = everything(model);
      var loser =
          new FutureTask<>(
              () -> {
                loseRankOneBefore(last);
                return true;
              });
      Thread.ofPlatform().daemon().start(loser);
      assertThatThrownBy(() -> model.train(1, Mlp.BATCH, 0, Mlp.BATCH))
          .hasMessageContaining("rank 1 on node1");
      assertThat(loser.get(20, TimeUnit.SECONDS)).isTrue();
      assertThat(everything(model)).containsExactly(before);

      OpLibrary.load().rebind(ranks.of(0), survivors.of(0));
      model.train(1, Mlp.BATCH, 0, Mlp.BATCH);
      assertThat(everything(model)).isNotEqualTo(before);
    }
  }

  @Test
  void wholeStepsGiveTheSameWeights() throws Exception {
    List<float[]> weights = new ArrayList<>();
    for (Updates updates : List.of(Updates.AS_THEY_COME, Updates.ALL_OR_NONE)) {
      weights.addAll(
          Together.run(
              2,
              rank ->
                  () -> {
                    try (Mlp model =
                        new Mlp(
                            7,
                            null,
                            graph ->
                                new DistributedOptimizer(
                                    ranks.of(rank), new Adam(graph, 0.01f), updates))) {
                      model.train(20, 2 * Mlp.BATCH, rank * Mlp.BATCH, Mlp.BATCH);
                      return everything(model);
                    }
                  }));
    }
    assertThat(weights).hasSize(4).allSatisfy(w -> assertThat(w).containsExactly(weights.get(0)));
  }

  @Test
  void broadcastUsesTheNewCommunicatorAfterRebinding() throws Exception {
    InMemoryRanks later = new InMemoryRanks(2);
    List<float[]> all =
        Together.run(
            2,
            rank ->
                () -> {
                  try (Mlp model = new Mlp(rank + 1, null, graph -> new Adam(graph, 0.01f))) {
                    WeftVariables.broadcast(model.session, ranks.of(rank), 1);
                    model.train(2 + rank, Mlp.BATCH, 0, Mlp.BATCH);
                    OpLibrary.load().rebind(ranks.of(rank), later.of(rank));
                    WeftVariables.broadcast(model.session, later.of(rank), 1);
                    return everything(model);
                  }
                });
    later.close();
    assertThat(all.get(0)).containsExactly(all.get(1));
  }
}
