// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.gradient.GradientReducer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.tensorflow.Graph;
import org.tensorflow.GraphOperation;
import org.tensorflow.Operand;
import org.tensorflow.framework.optimizers.AdaGrad;
import org.tensorflow.framework.optimizers.Adam;
import org.tensorflow.framework.optimizers.GradientDescent;
import org.tensorflow.framework.optimizers.Momentum;
import org.tensorflow.framework.optimizers.Optimizer;

class DistributedOptimizerTest {

  private static final int STEPS = 50;

  private final InMemoryRanks ranks = new InMemoryRanks(2);

  @AfterEach
  void close() {
    ranks.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"GradientDescent", "Momentum", "Adam"})
  void twoRanksTrainAsOneRankDoesOnTheJointBatch(String name) throws Exception {
    float[] expected;
    try (InMemoryRanks single = new InMemoryRanks(1);
        Mlp alone = new Mlp(7, single.of(0), optimizer(name))) {
      alone.train(STEPS, 2 * Mlp.BATCH, 0, 2 * Mlp.BATCH);
      expected = alone.weights();
    }
    List<String> digests = new ArrayList<>(List.of("", ""));
    List<float[]> weights =
        Together.run(
            2,
            rank ->
                () -> {
                  // Rank 1 starts with weights that differ from rank 0's and must get rank 0's.
                  try (Mlp model = new Mlp(7 + rank, ranks.of(rank), optimizer(name))) {
                    WeftVariables.broadcast(model.session, ranks.of(rank), 0);
                    model.train(STEPS, 2 * Mlp.BATCH, rank * Mlp.BATCH, Mlp.BATCH);
                    digests.set(rank, WeightsDigest.of(model.session, model.variables));
                    return model.weights();
                  }
                });
    assertThat(weights.get(1)).containsExactly(weights.get(0));
    assertThat(digests.get(1)).isEqualTo(digests.get(0)).hasSize(64);
    // Adam divides by the root of a tiny second moment and so magnifies rounding.
    float tolerance = name.equals("Adam") ? 1e-4f : 1e-6f;
    assertThat(weights.get(0)).hasSameSizeAs(expected);
    for (int i = 0; i < expected.length; i++) {
      assertThat(weights.get(0)[i]).as("weight %d", i).isCloseTo(expected[i], within(tolerance));
    }
  }

  @Test
  void gradientsAreReducedByTheGivenReducer() throws Exception {
    List<String> names = Collections.synchronizedList(new ArrayList<>());
    GradientReducer.Factory reducers =
        communicator -> {
          GradientReducer plain = GradientReducer.ALLREDUCE.reducer(communicator);
          return (name, gradient, average) -> {
            names.add(name);
            return plain.reduce(name, gradient, average);
          };
        };
    List<float[]> weights =
        Together.run(
            2,
            rank ->
                () -> {
                  try (Mlp model = new Mlp(7, ranks.of(rank), reducers, optimizer("Momentum"))) {
                    model.train(3, 2 * Mlp.BATCH, rank * Mlp.BATCH, Mlp.BATCH);
                    return model.weights();
                  }
                });
    assertThat(weights.get(1)).containsExactly(weights.get(0));
    assertThat(names).hasSize(2 * 3 * 4).allMatch(name -> name.startsWith("weft/gradient/"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"Momentum", "Adam", "AdaGrad"})
  void slotsAreBroadcast(String name) throws Exception {
    List<float[]> all =
        Together.run(
            2,
            rank ->
                () -> {
                  // Each rank first trains alone, so that the slots differ.
                  try (Mlp model = new Mlp(rank + 1, null, optimizer(name))) {
                    model.train(3, Mlp.BATCH, 0, Mlp.BATCH);
                    List<Operand<?>> everything = new ArrayList<>();
                    for (GraphOperation variable : WeftVariables.variables(model.graph)) {
                      everything.add(variable.output(0));
                    }
                    assertThat(everything).hasSizeGreaterThanOrEqualTo(8);
                    WeftVariables.broadcast(model.session, ranks.of(rank), 1);
                    WeftVariables.broadcast(model.session, ranks.of(rank), 1);
                    return model.values(everything);
                  }
                });
    assertThat(all.get(0)).containsExactly(all.get(1));
  }

  @Test
  void distributedOptimizerHasTheNameOfTheLocalOne() {
    try (Graph graph = new Graph()) {
      Optimizer local = new Momentum(graph, 0.1f, 0.9f);
      Optimizer distributed = new DistributedOptimizer(ranks.of(0), local);
      assertThat(distributed.getOptimizerName()).isEqualTo("Momentum");
      assertThat(distributed).hasToString("DistributedOptimizer{" + local + ", ranks=2}");
    }
  }

  @Test
  void singleRankAddsNothingToTheGraph() {
    try (InMemoryRanks alone = new InMemoryRanks(1);
        Mlp model = new Mlp(1, alone.of(0), optimizer("Adam"))) {
      WeftVariables.broadcast(model.session, alone.of(0), 0);
      model
          .graph
          .operations()
          .forEachRemaining(op -> assertThat(op.type()).doesNotStartWith("Weft"));
    }
  }

  @Test
  void rootBeyondTheRanksIsRefused() {
    try (Mlp model = new Mlp(1, null, optimizer("GradientDescent"))) {
      assertThatThrownBy(() -> WeftVariables.broadcast(model.session, ranks.of(0), 2))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessage("root 2 of a broadcast to 2 ranks");
    }
  }

  private static Function<Graph, Optimizer> optimizer(String name) {
    return switch (name) {
      case "GradientDescent" -> graph -> new GradientDescent(graph, 0.2f);
      case "Momentum" -> graph -> new Momentum(graph, 0.05f, 0.9f);
      case "AdaGrad" -> graph -> new AdaGrad(graph, 0.1f);
      default -> graph -> new Adam(graph, 0.01f);
    };
  }
}
