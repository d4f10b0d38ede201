// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.Weft;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.compress.Compression;
import io.weft.gradient.GradientReducer;
import io.weft.tensor.ReduceOp;
import io.weft.tensorflow.DistributedOptimizer.Share;
import io.weft.tensorflow.DistributedOptimizer.Updates;
import io.weft.tensorflow.GradientOptions.Accumulation;
import io.weft.tensorflow.GradientOptions.Total;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.tensorflow.Graph;
import org.tensorflow.GraphOperation;
import org.tensorflow.framework.optimizers.AdaDelta;
import org.tensorflow.framework.optimizers.AdaGrad;
import org.tensorflow.framework.optimizers.Adam;
import org.tensorflow.framework.optimizers.Adamax;
import org.tensorflow.framework.optimizers.Ftrl;
import org.tensorflow.framework.optimizers.GradientDescent;
import org.tensorflow.framework.optimizers.Momentum;
import org.tensorflow.framework.optimizers.Nadam;
import org.tensorflow.framework.optimizers.Optimizer;
import org.tensorflow.framework.optimizers.RMSProp;

/// Checks training in which each rank updates its share of the weights.
class OptimizerSharesTest {

  private static final int WEIGHTS = 8 * 16 + 16 + 16 * 3 + 3;
  private static final GradientOptions SHARES = GradientOptions.DEFAULT.with(Updates.IN_SHARES);

  @ParameterizedTest
  @CsvSource({
    "2, tcp, GradientDescent",
    "2, inproc, Momentum",
    "2, tcp, Adam",
    "2, inproc, AdaDelta",
    "2, inproc, RMSProp",
    "2, inproc, Adamax",
    "2, inproc, Nadam",
    "2, inproc, Ftrl",
    "3, tcp, Adam",
    "4, tcp, Momentum",
    "5, inproc, Adam"
  })
  void weightsHaveTheBitsOfAnOptimizerOnEachRank(int ranks, String transport, String optimizer) {
    List<String> whole = trained(ranks, transport, optimizer, GradientOptions.DEFAULT);
    assertThat(whole).hasSize(ranks).containsOnly(whole.getFirst());
    assertThat(trained(ranks, transport, optimizer, SHARES)).isEqualTo(whole);
    assertThat(trained(ranks, transport, optimizer, SHARES.with(Grouping.into(3))))
        .isEqualTo(whole);
  }

  /// TensorFlow's AdaGrad kernel rounds the last elements of a tensor differently, and a share has
  /// different last elements.
  @Test
  void adaGradWeightsDifferOnlyByRounding() {
    List<float[]> whole = weights("AdaGrad", GradientOptions.DEFAULT);
    List<float[]> shares = weights("AdaGrad", SHARES);
    assertThat(shares.get(1)).containsExactly(shares.get(0));
    assertThat(shares.get(0)).containsExactly(whole.get(0), within(1e-5f));
  }

  private static List<float[]> weights(String optimizer, GradientOptions options) {
    return SmallJob.run(
        2,
        "inproc",
        weft -> {
          try (DataParallel parallel = DataParallel.open(weft);
              Mlp model = model(weft, parallel, optimizer, options)) {
            model.train(10, 2 * Mlp.BATCH, weft.rank() * Mlp.BATCH, Mlp.BATCH);
            return model.weights();
          }
        });
  }

  @Test
  void gradientOptionsWorkWithShares() {
    GradientOptions mean = GradientOptions.DEFAULT.with(new Accumulation(3, Total.MEAN));
    GradientOptions local = GradientOptions.DEFAULT.withLocal(Set.of("v1"), 0.5);
    for (GradientOptions how : List.of(mean, local, GradientOptions.DEFAULT.with(ReduceOp.SUM))) {
      assertThat(trained(2, "inproc", "Adam", how.with(Updates.IN_SHARES)))
          .as(how.toString())
          .isEqualTo(trained(2, "inproc", "Adam", how));
    }
    List<String> predivided = trained(2, "inproc", "Adam", SHARES.predivided(2));
    assertThat(predivided).containsOnly(predivided.getFirst());
  }

  @Test
  void aRankHasItsShareOfTheState() {
    List<List<Long>> elements =
        SmallJob.run(
            4,
            "inproc",
            weft -> {
              try (DataParallel parallel = DataParallel.open(weft);
                  Mlp model = model(weft, parallel, "Adam", SHARES)) {
                List<GraphOperation> slots =
                    WeftVariables.variables(model.graph).stream()
                        .filter(variable -> variable.name().contains("-"))
                        .toList();
                assertThat(slots).hasSize(2);
                return slots.stream()
                    .map(slot -> slot.<org.tensorflow.types.TFloat32>output(0).shape().size())
                    .toList();
              }
            });
    for (int rank = 0; rank < 4; rank++) {
      long mine = WEIGHTS / 4 + (rank < WEIGHTS % 4 ? 1 : 0);
      assertThat(elements.get(rank)).containsExactly(mine, mine);
    }
  }

  @Test
  void sharesReportTheirRangeAndSlots() {
    List<List<Share>> shares =
        SmallJob.run(
            2,
            "inproc",
            weft -> {
              try (Graph graph = new Graph();
                  DataParallel parallel = DataParallel.open(weft)) {
                var tf = org.tensorflow.op.Ops.create(graph);
                var variable =
                    tf.withName("w")
                        .variable(
                            org.tensorflow.ndarray.Shape.of(5),
                            org.tensorflow.types.TFloat32.class);
                var optimizer =
                    new DistributedOptimizer(
                        weft.communicator(), parallel, new Momentum(graph, 0.1f, 0.9f), SHARES);
                assertThat(optimizer.shares()).isEmpty();
                optimizer.minimize(tf.reduceSum(variable, tf.constant(0)));
                return optimizer.shares();
              }
            });
    assertThat(shares.get(0)).containsExactly(new Share("weft_share_0", List.of("w"), 0, 3, 5));
    assertThat(shares.get(1)).containsExactly(new Share("weft_share_0", List.of("w"), 3, 2, 5));
    assertThat(shares.get(0).getFirst().slot("weft_share_0-momentum")).contains("momentum");
    assertThat(shares.get(0).getFirst().slot("weft_share_01-momentum")).isEmpty();
    assertThat(shares.get(0).getFirst().slot("w")).isEqualTo(Optional.empty());
  }

  @Test
  void ranksHaveEqualWeightsAfterABroadcastWithShares() {
    List<String> digests =
        SmallJob.run(
            2,
            "inproc",
            weft -> {
              try (DataParallel parallel = DataParallel.open(weft);
                  Mlp model =
                      new Mlp(
                          7 + weft.rank(),
                          null,
                          graph ->
                              new DistributedOptimizer(
                                  weft.communicator(),
                                  parallel,
                                  optimizer("Adam", graph),
                                  SHARES))) {
                WeftVariables.broadcast(model.session, weft, 0);
                model.train(5, 2 * Mlp.BATCH, weft.rank() * Mlp.BATCH, Mlp.BATCH);
                return WeightsDigest.of(model.session, model.variables);
              }
            });
    assertThat(digests).containsOnly(digests.getFirst());
  }

  @Test
  void compressionAndCustomReducersAreRefusedWithShares() {
    assertThatThrownBy(() -> SHARES.with(Compression.parse("fp16")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("compression fp16")
        .hasMessageContaining("shares");
    List<String> said =
        SmallJob.run(
            2,
            "inproc",
            weft -> {
              GradientReducer.Factory own =
                  communicator -> GradientReducer.ALLREDUCE.reducer(communicator)::reduce;
              try (Mlp model =
                  new Mlp(
                      7,
                      null,
                      graph ->
                          new DistributedOptimizer(
                              weft.communicator(), own, optimizer("Adam", graph), SHARES))) {
                assertThatThrownBy(() -> model.train(1, Mlp.BATCH, 0, Mlp.BATCH))
                    .hasMessageContaining("weft/gradient/v0")
                    .hasMessageContaining("updates in shares go over a communicator");
                return "refused";
              }
            });
    assertThat(said).containsOnly("refused");
  }

  @Test
  void sharesWorkOverAPlainCommunicator() {
    List<String> digests =
        SmallJob.run(
            2,
            "tcp",
            weft -> {
              try (Mlp model =
                  new Mlp(
                      7,
                      null,
                      graph ->
                          new DistributedOptimizer(
                              weft.communicator(),
                              GradientReducer.ALLREDUCE,
                              optimizer("Adam", graph),
                              SHARES))) {
                model.train(10, 2 * Mlp.BATCH, weft.rank() * Mlp.BATCH, Mlp.BATCH);
                return WeightsDigest.of(model.session, model.variables);
              }
            });
    assertThat(digests).isEqualTo(trained(2, "tcp", "Adam", GradientOptions.DEFAULT));
  }

  private static List<String> trained(
      int ranks, String transport, String optimizer, GradientOptions options) {
    return SmallJob.run(
        ranks,
        transport,
        weft -> {
          try (DataParallel parallel = DataParallel.open(weft);
              Mlp model = model(weft, parallel, optimizer, options)) {
            model.train(10, ranks * Mlp.BATCH, weft.rank() * Mlp.BATCH, Mlp.BATCH);
            return WeightsDigest.of(
                model.session,
                model.variables.stream()
                    .filter(v -> !options.localVariables().contains(v.op().name()))
                    .toList());
          }
        });
  }

  private static Mlp model(
      Weft weft, DataParallel parallel, String optimizer, GradientOptions options) {
    Function<Graph, Optimizer> local = graph -> optimizer(optimizer, graph);
    return new Mlp(
        7,
        null,
        graph ->
            new DistributedOptimizer(weft.communicator(), parallel, local.apply(graph), options));
  }

  private static Optimizer optimizer(String name, Graph graph) {
    return switch (name) {
      case "GradientDescent" -> new GradientDescent(graph, 0.2f);
      case "Momentum" -> new Momentum(graph, 0.05f, 0.9f);
      case "AdaGrad" -> new AdaGrad(graph, 0.1f);
      case "AdaDelta" -> new AdaDelta(graph, 0.1f);
      case "RMSProp" -> new RMSProp(graph, 0.01f);
      case "Adamax" -> new Adamax(graph, 0.01f);
      case "Nadam" -> new Nadam(graph, 0.01f);
      case "Ftrl" -> new Ftrl(graph, 0.05f);
      case "Adam" -> new Adam(graph, 0.01f);
      default -> throw new IllegalArgumentException(name);
    };
  }
}
