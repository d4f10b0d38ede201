// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.collective.Communicator;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.DataParallelOptions;
import io.weft.dataparallel.Fusion;
import io.weft.dataparallel.compress.Compression;
import io.weft.gradient.GradientReducer;
import io.weft.tensor.ReduceOp;
import io.weft.tensorflow.DistributedOptimizer.Updates;
import io.weft.tensorflow.GradientOptions.Accumulation;
import io.weft.tensorflow.GradientOptions.Total;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.tensorflow.Graph;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.framework.optimizers.Adam;
import org.tensorflow.framework.optimizers.GradientDescent;
import org.tensorflow.framework.optimizers.Momentum;
import org.tensorflow.framework.optimizers.Optimizer;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.types.TFloat32;

/// Checks real training with the options of `DistributedOptimizer`.
class GradientOptionsTest {

  private static final int ROWS = 4 * Mlp.BATCH;
  private static final int STEPS = 5;

  @ParameterizedTest
  @ValueSource(strings = {"GradientDescent", "Momentum", "Adam"})
  void severalPassesOfAllRanksAreOneStepOnTheJointBatch(String name) {
    List<float[]> weights =
        RankGraphs.on(
            2,
            weft -> {
              GradientOptions options =
                  GradientOptions.DEFAULT.with(new Accumulation(2, Total.MEAN));
              try (Mlp model = model(weft.communicator(), options, optimizer(name))) {
                for (int step = 0; step < STEPS; step++) {
                  for (int pass = 0; pass < 2; pass++) {
                    model.train(1, ROWS, (2 * weft.rank() + pass) * Mlp.BATCH, Mlp.BATCH);
                  }
                }
                return model.weights();
              }
            });
    assertThat(weights.get(1)).containsExactly(weights.get(0));
    assertClose(weights.get(0), joint(optimizer(name)), name.equals("Adam") ? 1e-4f : 1e-6f);
  }

  @Test
  void sumOfPassesIsTheMeanTimesTheirNumber() {
    List<float[]> weights =
        RankGraphs.on(
            1,
            weft -> {
              GradientOptions options =
                  GradientOptions.DEFAULT.with(new Accumulation(4, Total.SUM));
              Function<Graph, Optimizer> quarter = graph -> new GradientDescent(graph, 0.05f);
              try (Mlp model = model(weft.communicator(), options, quarter)) {
                for (int pass = 0; pass < 4 * STEPS; pass++) {
                  model.train(1, ROWS, pass % 4 * Mlp.BATCH, Mlp.BATCH);
                }
                return model.weights();
              }
            });
    assertClose(weights.getFirst(), joint(optimizer("GradientDescent")), 1e-6f);
  }

  @ParameterizedTest
  @EnumSource
  void variablesChangeInEveryThirdPassOnly(Updates updates) {
    List<Boolean> right =
        RankGraphs.on(
            2,
            weft -> {
              GradientOptions options =
                  GradientOptions.DEFAULT.with(new Accumulation(3, Total.SUM)).with(updates);
              try (Mlp model = model(weft.communicator(), options, optimizer("Adam"))) {
                float[] before = model.weights();
                for (int pass = 1; pass <= 9; pass++) {
                  model.train(1, ROWS, weft.rank() * Mlp.BATCH, Mlp.BATCH);
                  float[] after = model.weights();
                  assertThat(Arrays.equals(after, before))
                      .as("pass %d", pass)
                      .isEqualTo(pass % 3 != 0);
                  before = after;
                }
                return true;
              }
            });
    assertThat(right).hasSize(2);
  }

  @Test
  void sumsAndPassCountsAreBroadcast() {
    List<float[]> weights =
        RankGraphs.on(
            2,
            weft -> {
              GradientOptions options =
                  GradientOptions.DEFAULT.with(new Accumulation(2, Total.SUM));
              try (Mlp model = model(weft.communicator(), options, optimizer("Momentum"))) {
                if (weft.rank() == 1) { // rank 1 is one pass ahead
                  model.train(1, ROWS, 0, Mlp.BATCH);
                }
                WeftVariables.broadcast(model.session, weft.communicator(), 1);
                float[] before = model.weights();
                model.train(1, ROWS, Mlp.BATCH, Mlp.BATCH);
                assertThat(model.weights()).isNotEqualTo(before);
                return model.weights();
              }
            });
    assertThat(weights.get(1)).containsExactly(weights.get(0));
  }

  @Test
  void localVariablesAreTrainedByEachRankSeparately() {
    List<float[]> weights =
        RankGraphs.on(
            2,
            weft -> {
              GradientOptions options = GradientOptions.DEFAULT.withLocal(Set.of("v1"), 1);
              try (Mlp model = model(weft.communicator(), options, optimizer("GradientDescent"))) {
                model.train(1, ROWS, weft.rank() * Mlp.BATCH, Mlp.BATCH);
                return model.weights();
              }
            });
    int from = 8 * 16; // v0 precedes it
    assertThat(part(weights.get(0), 0, from)).containsExactly(part(weights.get(1), 0, from));
    assertThat(part(weights.get(0), from, from + 16))
        .isNotEqualTo(part(weights.get(1), from, from + 16));
    assertThat(part(weights.get(0), from + 16, weights.get(0).length))
        .containsExactly(part(weights.get(1), from + 16, weights.get(1).length));
  }

  @Test
  void gradientsOfLocalVariablesAreMultiplied() {
    List<float[]> weights =
        RankGraphs.on(
            2,
            weft -> {
              // Rank 0 has a factor of 0.5, rank 1 has half of the learning rate.
              Set<String> all = Set.of("v0", "v1", "v2", "v3");
              GradientOptions options =
                  GradientOptions.DEFAULT.withLocal(all, weft.rank() == 0 ? 0.5 : 1);
              float rate = weft.rank() == 0 ? 0.2f : 0.1f;
              try (Mlp model =
                  model(weft.communicator(), options, graph -> new GradientDescent(graph, rate))) {
                model.train(1, ROWS, 0, Mlp.BATCH);
                return model.weights();
              }
            });
    assertClose(weights.get(0), weights.get(1), 1e-7f);
  }

  /// TensorFlow Java creates a dense gradient for a lookup, with zeros for the other rows.
  @Test
  void lookedUpRowsAreAccumulated() {
    List<float[]> tables =
        RankGraphs.on(
            2,
            weft -> {
              try (Graph graph = new Graph()) {
                Ops tf = Ops.create(graph);
                var table = tf.withName("table").variable(Shape.of(4, 2), TFloat32.class);
                Ops init = tf.withInitScope();
                init.assign(table, init.constant(new float[4][2]));
                // Each pass of rank r looks up row r twice and row 3 once.
                var ids = tf.constant(new int[] {weft.rank(), weft.rank(), 3});
                var loss = tf.math.neg(tf.gather(table, ids, tf.constant(0)));
                Op step =
                    new DistributedOptimizer(
                            weft.communicator(),
                            GradientReducer.ALLREDUCE,
                            new GradientDescent(graph, 1),
                            GradientOptions.DEFAULT.with(new Accumulation(2, Total.SUM)))
                        .minimize(loss);
                try (Session session = new Session(graph)) {
                  session.initialize();
                  for (int pass = 0; pass < 4; pass++) {
                    session.run(step);
                  }
                  try (Result result = session.runner().fetch(table).run()) {
                    return TensorViews.of(result.get(0))
                        .data()
                        .toArray(ValueLayout.JAVA_FLOAT_UNALIGNED);
                  }
                }
              }
            });
    assertThat(tables).allSatisfy(t -> assertThat(t).containsExactly(4, 4, 4, 4, 0, 0, 4, 4));
  }

  @Test
  void unknownLocalVariableIsRefused() {
    List<String> messages =
        RankGraphs.on(
            1,
            weft -> {
              GradientOptions options = GradientOptions.DEFAULT.withLocal(Set.of("v9"), 1);
              try {
                model(weft.communicator(), options, optimizer("Adam")).close();
                return "built";
              } catch (IllegalArgumentException e) {
                return e.getMessage();
              }
            });
    assertThat(messages.getFirst()).contains("[v9]").contains("[v0, v1, v2, v3]");
  }

  @Test
  void groupedGradientsGiveTheSameWeights() {
    float[] single = trained(GradientOptions.DEFAULT, GradientReducer.ALLREDUCE);
    for (Grouping grouping :
        List.of(
            Grouping.into(1),
            Grouping.into(3),
            Grouping.of(List.of(List.of("v3", "v0"), List.of("v1"))))) {
      assertThat(trained(GradientOptions.DEFAULT.with(grouping), GradientReducer.ALLREDUCE))
          .containsExactly(single);
    }
  }

  @Test
  void groupedGradientsWorkWithACustomReducer() {
    float[] single = trained(GradientOptions.DEFAULT, GradientReducer.ALLREDUCE);
    GradientReducer.Factory reducers =
        communicator -> {
          GradientReducer plain = GradientReducer.ALLREDUCE.reducer(communicator);
          return plain::reduce;
        };
    assertThat(trained(GradientOptions.DEFAULT.with(Grouping.into(2)), reducers))
        .containsExactly(single);
  }

  @Test
  void groupingDividesVariablesAsSpecified() {
    List<String> names = List.of("a", "b", "c", "d", "e");
    assertThat(Grouping.SINGLE.cut(names)).hasSize(5);
    assertThat(Grouping.into(2).cut(names))
        .containsExactly(List.of("a", "b"), List.of("c", "d", "e"));
    assertThat(Grouping.into(9).cut(names)).hasSize(5);
    assertThat(Grouping.of(List.of(List.of("d", "a"), List.of("x"))).cut(names))
        .containsExactly(List.of("d", "a"), List.of("b"), List.of("c"), List.of("e"));
    assertThatThrownBy(() -> Grouping.of(List.of(List.of("a"), List.of("a"))))
        .hasMessageContaining("'a' is in two groups");
    assertThatThrownBy(() -> Grouping.into(0)).hasMessageContaining("got 0");
  }

  @ParameterizedTest
  @ValueSource(strings = {"fp16", "bf16", "int8"})
  void compressedGradientsGiveCloseWeights(String how) {
    float[] exact = trained(GradientOptions.DEFAULT, GradientReducer.ALLREDUCE);
    var options = GradientOptions.DEFAULT.with(Compression.parse(how));
    float[] compressed = trained(options, GradientReducer.ALLREDUCE);
    assertThat(compressed).isNotEqualTo(exact);
    assertClose(compressed, exact, how.equals("fp16") ? 1e-3f : 1e-2f);
  }

  @Test
  void predivisionChangesWeightsOnlyByRounding() {
    float[] exact = trained(GradientOptions.DEFAULT, GradientReducer.ALLREDUCE);
    var options = GradientOptions.DEFAULT.predivided(2);
    assertClose(trained(options, GradientReducer.ALLREDUCE), exact, 1e-6f);
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, -0.0, -1, Double.NaN, Double.POSITIVE_INFINITY, 1e-300, 1e-40, 1e300})
  void unusableFactorsAreRefused(double factor) {
    assertThatThrownBy(() -> GradientOptions.DEFAULT.predivided(factor))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got " + factor);
    if (factor != 0 && factor != -1) {
      assertThatThrownBy(() -> GradientOptions.DEFAULT.withLocal(Set.of("v"), factor))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("a factor of " + factor);
    }
    if (factor != -1 && Math.abs(factor) != 1e-300 && factor != 1e300 && factor != 1e-40) {
      assertThatThrownBy(() -> new Scale(factor, 1)).isInstanceOf(IllegalArgumentException.class);
      assertThatThrownBy(() -> new Scale(1, factor)).isInstanceOf(IllegalArgumentException.class);
    }
  }

  @Test
  void sumIsTheAverageTimesTheRanksAndRefusesPredivision() {
    // Without momentum, the sum at half of the rate on two ranks is bitwise equal to the average.
    float[] average = trained(GradientOptions.DEFAULT, GradientReducer.ALLREDUCE, 0.05f);
    float[] sum =
        trained(GradientOptions.DEFAULT.with(ReduceOp.SUM), GradientReducer.ALLREDUCE, 0.025f);
    assertThat(sum).isEqualTo(average);
    assertThatThrownBy(() -> GradientOptions.DEFAULT.with(ReduceOp.MAX))
        .hasMessageContaining("not MAX");
    assertThatThrownBy(() -> GradientOptions.DEFAULT.with(ReduceOp.SUM).predivided(2))
        .hasMessageContaining("does not go with SUM");
  }

  @Test
  void compressionPredivisionAndAccumulationWorkWithFusion() {
    var options =
        GradientOptions.DEFAULT
            .with(new Accumulation(2, Total.MEAN))
            .with(Grouping.into(2))
            .predivided(2);
    float[] exact = fused(options);
    float[] compressed = fused(options.with(Compression.parse("fp16")));
    assertThat(compressed).isNotEqualTo(exact);
    assertClose(compressed, exact, 2e-3f);
  }

  /// Trains with fused gradients and returns the weights, which are equal on both ranks.
  private static float[] fused(GradientOptions options) {
    List<float[]> weights =
        RankGraphs.on(
            2,
            weft -> {
              var layer = DataParallelOptions.of(weft.config()).with(Fusion.ON);
              try (DataParallel parallel = DataParallel.open(weft, layer);
                  Mlp model =
                      new Mlp(
                          7,
                          null,
                          graph ->
                              new DistributedOptimizer(
                                  weft.communicator(),
                                  parallel,
                                  new Momentum(graph, 0.05f, 0.9f),
                                  options))) {
                model.train(STEPS, ROWS, weft.rank() * Mlp.BATCH, Mlp.BATCH);
                return model.weights();
              }
            });
    assertThat(weights.get(1)).isEqualTo(weights.get(0));
    return weights.get(0);
  }

  private static float[] trained(GradientOptions options, GradientReducer.Factory reducers) {
    return trained(options, reducers, graph -> new Momentum(graph, 0.05f, 0.9f));
  }

  private static float[] trained(
      GradientOptions options, GradientReducer.Factory reducers, float rate) {
    return trained(options, reducers, graph -> new GradientDescent(graph, rate));
  }

  /// Trains and returns the weights, which are equal on both ranks.
  private static float[] trained(
      GradientOptions options,
      GradientReducer.Factory reducers,
      Function<Graph, Optimizer> optimizer) {
    List<float[]> weights =
        RankGraphs.on(
            2,
            weft -> {
              try (Mlp model =
                  new Mlp(
                      7,
                      null,
                      graph ->
                          new DistributedOptimizer(
                              weft.communicator(), reducers, optimizer.apply(graph), options))) {
                model.train(STEPS, ROWS, weft.rank() * Mlp.BATCH, Mlp.BATCH);
                return model.weights();
              }
            });
    assertThat(weights.get(1)).containsExactly(weights.get(0));
    return weights.get(0);
  }

  private static float[] joint(Function<Graph, Optimizer> optimizer) {
    // The optimizer is distributed over one rank, which orders Adam's updates.
    try (InMemoryRanks single = new InMemoryRanks(1);
        Mlp alone = new Mlp(7, single.of(0), optimizer)) {
      for (int step = 0; step < STEPS; step++) {
        alone.train(1, ROWS, 0, ROWS);
      }
      return alone.weights();
    }
  }

  private static Mlp model(
      Communicator communicator, GradientOptions options, Function<Graph, Optimizer> optimizer) {
    return new Mlp(
        7,
        null,
        graph ->
            new DistributedOptimizer(
                communicator, GradientReducer.ALLREDUCE, optimizer.apply(graph), options));
  }

  private static Function<Graph, Optimizer> optimizer(String name) {
    return switch (name) {
      case "GradientDescent" -> graph -> new GradientDescent(graph, 0.2f);
      case "Momentum" -> graph -> new Momentum(graph, 0.05f, 0.9f);
      default -> graph -> new Adam(graph, 0.01f);
    };
  }

  private static float[] part(float[] all, int from, int to) {
    return Arrays.copyOfRange(all, from, to);
  }

  private static void assertClose(float[] actual, float[] expected, float tolerance) {
    assertThat(actual).hasSameSizeAs(expected);
    for (int i = 0; i < expected.length; i++) {
      assertThat(actual[i]).as("weight %d", i).isCloseTo(expected[i], within(tolerance));
    }
  }
}
