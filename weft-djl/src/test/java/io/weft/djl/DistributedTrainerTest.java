// SPDX-License-Identifier: Apache-2.0
package io.weft.djl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import ai.djl.Model;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.testkit.job.LocalJob;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DistributedTrainerTest {

  private static final int STEPS = 6;
  private static final int ROWS = 8;
  private static final Shape INPUT = new Shape(ROWS, SmallNetwork.FEATURES);

  /// The weights of a rank after its training.
  private record Trained(String digest, Map<String, float[]> weights) {}

  @BeforeAll
  static void loadPyTorch() {
    var unused = PyTorch.load();
  }

  @Test
  void twoRanksTrainLikeOneRankWithTheWholeBatch() {
    Map<String, float[]> alone = SmallNetwork.trainedAlone(STEPS, 2 * ROWS);
    try (LocalJob job = LocalJob.over("shm", 2)) {
      List<Trained> ranks = job.run(DistributedTrainerTest::trained);
      assertThat(ranks.getFirst().digest).isEqualTo(ranks.getLast().digest);
      assertThat(ranks.getFirst().weights).containsOnlyKeys(alone.keySet());
      alone.forEach(
          (name, weights) ->
              assertThat(ranks.getFirst().weights.get(name))
                  .as(name)
                  .containsExactly(weights, within(1e-5f)));
    }
  }

  @Test
  void severalPassesOfTwoRanksAreOneStepOnTheJointBatch() {
    Map<String, float[]> alone = SmallNetwork.trainedAlone(STEPS, 2 * ROWS);
    try (LocalJob job = LocalJob.over("shm", 2)) {
      List<Map<String, float[]>> ranks =
          job.run(
              weft ->
                  trained(weft, StepOptions.DEFAULT.accumulated(4), STEPS * 4, ROWS / 4).weights);
      alone.forEach(
          (name, weights) ->
              assertThat(ranks).allSatisfy(rank -> assertClose(rank.get(name), weights, name)));
    }
  }

  /// Trains on batches in turn with the other ranks.
  private static Trained trained(Weft weft, StepOptions options, int passes, int rows) {
    try (Model model = SmallNetwork.model(SmallNetwork.HIDDEN);
        var trainer = new DistributedTrainer(weft, model, SmallNetwork.config(1), options)) {
      trainer.initialize(new Shape(rows, SmallNetwork.FEATURES));
      for (int pass = 0; pass < passes; pass++) {
        SmallNetwork.step(trainer, (weft.size() * pass + weft.rank()) * rows, rows);
      }
      return new Trained(trainer.digest(), SmallNetwork.weights(model));
    }
  }

  private static void assertClose(float[] found, float[] expected, String name) {
    assertThat(found).as(name).containsExactly(expected, within(1e-5f));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void clippedGradientHasTheLargestNormAndItsDirection(int ranks) {
    Map<String, float[]> first = SmallNetwork.trainedAlone(0, ROWS);
    Map<String, float[]> free = SmallNetwork.trainedAlone(1, ranks * ROWS);
    double norm = norm(first, free);
    double largest = norm / 5;
    StepOptions options = StepOptions.DEFAULT.clipped(largest / SmallNetwork.RATE);
    try (LocalJob job = LocalJob.over("shm", ranks)) {
      List<Trained> all = job.run(weft -> trained(weft, options, 1, ROWS));
      assertThat(all.getFirst().digest).isEqualTo(all.getLast().digest);
      Map<String, float[]> clipped = all.getFirst().weights;
      assertThat(norm(first, clipped)).isCloseTo(largest, withinPercentage(0.1));
      first.forEach(
          (name, before) -> {
            float[] expected = before.clone();
            for (int i = 0; i < expected.length; i++) {
              expected[i] += (free.get(name)[i] - before[i]) / 5;
            }
            assertClose(clipped.get(name), expected, name);
          });
      StepOptions wide = StepOptions.DEFAULT.clipped(2 * norm / SmallNetwork.RATE);
      assertThat(job.run(weft -> trained(weft, wide, 1, ROWS)).getFirst().digest)
          .isEqualTo(
              job.run(weft -> trained(weft, StepOptions.DEFAULT, 1, ROWS)).getFirst().digest);
    }
  }

  private static double norm(Map<String, float[]> from, Map<String, float[]> to) {
    double sum = 0;
    for (Map.Entry<String, float[]> each : from.entrySet()) {
      float[] other = to.get(each.getKey());
      for (int i = 0; i < other.length; i++) {
        sum += Math.pow((double) other[i] - each.getValue()[i], 2);
      }
    }
    return Math.sqrt(sum);
  }

  @Test
  void differentOptionsAreRefusedOnAllRanks() {
    try (LocalJob job = LocalJob.over("shm", 2)) {
      job.run(
          weft -> {
            StepOptions options = StepOptions.DEFAULT.accumulated(1 + weft.rank());
            try (Model model = SmallNetwork.model(SmallNetwork.HIDDEN);
                var trainer =
                    new DistributedTrainer(weft, model, SmallNetwork.config(1), options)) {
              assertThatThrownBy(() -> trainer.initialize(INPUT))
                  .isInstanceOf(CommException.Mismatch.class)
                  .hasMessageContaining("rank 1 has StepOptions[passes=2")
                  .hasMessageContaining("expected StepOptions[passes=1");
            }
            return weft.rank();
          });
    }
  }

  private static Trained trained(Weft weft) {
    // Other initial weights than rank 0's, which the broadcast replaces.
    float scale = 1 + weft.rank();
    try (Model model = SmallNetwork.model(SmallNetwork.HIDDEN);
        var trainer = new DistributedTrainer(weft, model, SmallNetwork.config(scale))) {
      trainer.initialize(INPUT);
      for (int step = 0; step < STEPS; step++) {
        SmallNetwork.step(trainer, (2 * step + weft.rank()) * ROWS, ROWS);
      }
      return new Trained(trainer.digest(), SmallNetwork.weights(model));
    }
  }

  @Test
  void differentShapesAreRefusedOnAllRanks() {
    assertThat(refusals(weft -> SmallNetwork.model(SmallNetwork.HIDDEN + weft.rank())))
        .hasSize(1)
        .allSatisfy(
            message ->
                assertThat(message)
                    .contains(
                        "parameter '01Linear_weight' of rank 1 is FLOAT32[6, 6], trained, expected"
                            + " FLOAT32[5, 6], trained, as on rank 0"));
  }

  @Test
  void anAdditionalParameterIsRefusedOnAllRanks() {
    assertThat(
            refusals(
                weft -> {
                  Model model = SmallNetwork.model(SmallNetwork.HIDDEN);
                  if (weft.rank() == 1) {
                    var block = (SequentialBlock) model.getBlock();
                    block.add(Linear.builder().setUnits(2).build());
                  }
                  return model;
                }))
        .hasSize(1)
        .allSatisfy(
            message ->
                assertThat(message)
                    .contains("rank 1 has the parameter '04Linear_weight' (FLOAT32[2, 3], trained)")
                    .contains("expected none after 4, as on rank 0"));
  }

  /// Returns the different messages with which the ranks refuse their models.
  private static Set<String> refusals(ModelOfRank models) {
    try (LocalJob job = LocalJob.over("shm", 2)) {
      return Set.copyOf(
          job.run(
              weft -> {
                try (Model model = models.of(weft);
                    var trainer = new DistributedTrainer(weft, model, SmallNetwork.config(1))) {
                  Throwable refused = catchThrowable(() -> trainer.initialize(INPUT));
                  assertThat(refused).isInstanceOf(CommException.Mismatch.class);
                  return String.valueOf(refused.getMessage());
                }
              }));
    }
  }

  @FunctionalInterface
  private interface ModelOfRank {
    Model of(Weft weft);
  }

  @Test
  void modelWithoutParametersIsRefusedOnAllRanks() {
    try (LocalJob job = LocalJob.over("shm", 2)) {
      job.run(
          weft -> {
            try (Model model = Model.newInstance("empty", "PyTorch")) {
              model.setBlock(new SequentialBlock().add(Activation::relu));
              try (var trainer = new DistributedTrainer(weft, model, SmallNetwork.config(1))) {
                assertThatThrownBy(() -> trainer.initialize(INPUT))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("model 'empty' has no parameters");
              }
            }
            return weft.rank();
          });
    }
  }

  @Test
  void stepWithoutBackwardNamesParameterAndRank() {
    try (LocalJob job = LocalJob.over("shm", 2)) {
      job.run(
          weft -> {
            try (Model model = SmallNetwork.model(SmallNetwork.HIDDEN);
                var trainer = new DistributedTrainer(weft, model, SmallNetwork.config(1))) {
              trainer.initialize(INPUT);
              assertThatThrownBy(trainer::step)
                  .isInstanceOf(IllegalStateException.class)
                  .hasMessageContaining(
                      "parameter '01Linear_weight' has no gradient on rank " + weft.rank());
            }
            return weft.rank();
          });
    }
  }

  @Test
  void rootOutsideTheJobIsRefused() {
    try (LocalJob job = LocalJob.over("shm", 1);
        Model model = SmallNetwork.model(SmallNetwork.HIDDEN);
        var trainer =
            new DistributedTrainer(job.ranks().getFirst(), model, SmallNetwork.config(1))) {
      trainer.initialize(INPUT);
      assertThatThrownBy(() -> trainer.broadcast(1)).hasMessageContaining("root 1");
    }
  }
}
