// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.DataParallelOptions;
import io.weft.dataparallel.Fusion;
import io.weft.tensorflow.DistributedOptimizer.Updates;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.tensorflow.GraphOperation;
import org.tensorflow.framework.optimizers.Adam;

/// Checks training through `DataParallel` over TCP.
class FusedTrainingTest {

  /// A separate group for each of the four gradients.
  private static final Grouping EACH = Grouping.into(4);

  @ParameterizedTest
  @EnumSource
  void weightsHaveTheSameBitsWithAndWithoutFusion(Updates updates) {
    List<String> digests = new ArrayList<>();
    for (Fusion fusion : List.of(Fusion.ON, Fusion.OFF)) {
      digests.addAll(trained(fusion, GradientOptions.DEFAULT.with(updates)));
      for (Grouping groups : List.of(Grouping.into(2), EACH)) {
        digests.addAll(trained(fusion, GradientOptions.DEFAULT.with(updates).with(groups)));
      }
    }
    assertThat(digests).hasSize(12).containsOnly(digests.getFirst());
  }

  @Test
  void smallGradientsAreOneAwaitedOp() {
    List<Boolean> right =
        SmallJob.run(
            2,
            "tcp",
            weft -> {
              try (DataParallel parallel = DataParallel.open(weft);
                  Mlp model = model(weft, parallel, GradientOptions.DEFAULT)) {
                GraphOperation op = model.graph.operation("weft/gradient/v0");
                assertThat(op.numOutputs()).isEqualTo(4);
                assertThat(op.attributes().getAttrInt(OpAttributes.AWAITED)).isEqualTo(1);
                assertThat(model.graph.operation("weft/gradient/v1")).isNull();
                return true;
              }
            });
    assertThat(right).hasSize(2);
  }

  @Test
  void firstLayersHaveTheHighestPriority() {
    List<Boolean> right =
        SmallJob.run(
            2,
            "tcp",
            weft -> {
              try (DataParallel parallel = DataParallel.open(weft);
                  Mlp model = model(weft, parallel, GradientOptions.DEFAULT.with(EACH))) {
                List<Long> priorities = new ArrayList<>();
                for (int i = 0; i < 4; i++) {
                  GraphOperation op = model.graph.operation("weft/gradient/v" + i);
                  priorities.add(op.attributes().getAttrInt(OpAttributes.PRIORITY));
                }
                assertThat(priorities).containsExactly(4L, 3L, 2L, 1L);
                return true;
              }
            });
    assertThat(right).hasSize(2);
  }

  private static List<String> trained(Fusion fusion, GradientOptions options) {
    return SmallJob.run(
        2,
        "tcp",
        weft -> {
          DataParallelOptions how = DataParallelOptions.of(weft.config()).with(fusion);
          try (DataParallel parallel = DataParallel.open(weft, how);
              Mlp model = model(weft, parallel, options)) {
            model.train(10, 2 * Mlp.BATCH, weft.rank() * Mlp.BATCH, Mlp.BATCH);
            return WeightsDigest.of(model.session, model.variables);
          }
        });
  }

  private static Mlp model(Weft weft, DataParallel parallel, GradientOptions options) {
    return new Mlp(
        7,
        null,
        graph ->
            new DistributedOptimizer(
                weft.communicator(), parallel, new Adam(graph, 0.01f), options));
  }
}
