// SPDX-License-Identifier: Apache-2.0
package io.weft.djl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import ai.djl.Model;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.TrainingConfig;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.evaluator.Accuracy;
import ai.djl.training.listener.TrainingListener;
import io.weft.testkit.job.LocalJob;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class DistributedListenerTest {

  private static final int EPOCHS = 2;
  private static final int BATCHES = 4;
  private static final int ROWS = 8;

  /// A trainer whose gradients are collected after those of other threads.
  private static final class TrainerInTurn extends Trainer {

    TrainerInTurn(Model model, TrainingConfig config) {
      super(model, config);
      config
          .getInitializers()
          .forEach(each -> model.getBlock().setInitializer(each.getKey(), each.getValue()));
    }

    @Override
    public GradientCollector newGradientCollector() {
      return SmallNetwork.collector(super::newGradientCollector);
    }
  }

  /// The weights and evaluations of a rank after its training.
  private record Fitted(Map<String, float[]> weights, Map<String, Float> evaluations) {}

  @BeforeAll
  static void loadPyTorch() {
    var unused = PyTorch.load();
  }

  @Test
  void easyTrainOnTwoRanksTrainsLikeOneRankWithTheWholeBatch() throws Exception {
    Fitted alone = fitted(SmallNetwork.config(1), 0, 1);
    List<Fitted> ranks = onTwo(0);
    assertEqualWeights(ranks);
    alone.weights.forEach(
        (name, weights) ->
            assertThat(ranks.getFirst().weights.get(name))
                .as(name)
                .containsExactly(weights, within(1e-5f)));
    assertThat(ranks.getFirst().evaluations).isEqualTo(ranks.getLast().evaluations);
    alone.evaluations.forEach(
        (name, value) ->
            assertThat(ranks.getFirst().evaluations.get(name))
                .as(name)
                .isCloseTo(value, within(1e-4f)));
    assertThat(alone.evaluations).containsKey("train_Accuracy");
  }

  @Test
  void ranksWithDifferentFirstWeightsTakeThoseOfRankZero() {
    assertEqualWeights(onTwo(1));
  }

  @Test
  void aListenerClipsButCannotAccumulate() {
    List<Fitted> free = onTwo(0);
    List<Fitted> clipped = onTwo(0, StepOptions.DEFAULT.clipped(1e-6));
    assertEqualWeights(clipped);
    float[] first = SmallNetwork.trainedAlone(0, ROWS).get("01Linear_weight");
    assertThat(clipped.getFirst().weights.get("01Linear_weight"))
        .containsExactly(first, within(1e-5f));
    assertThat(Arrays.mismatch(free.getFirst().weights.get("01Linear_weight"), first))
        .as("the first weight that the training without clipping has changed")
        .isNotNegative();
    try (LocalJob job = LocalJob.over("shm", 1)) {
      assertThatThrownBy(
              () ->
                  new DistributedListener(
                      job.ranks().getFirst(), StepOptions.DEFAULT.accumulated(2)))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("use a DistributedTrainer");
    }
  }

  private static void assertEqualWeights(List<Fitted> ranks) {
    ranks
        .getFirst()
        .weights
        .forEach(
            (name, weights) ->
                assertThat(ranks.getLast().weights.get(name)).as(name).containsExactly(weights));
  }

  /// @param spread the difference of the scales of the ranks' first weights
  private static List<Fitted> onTwo(float spread) {
    return onTwo(spread, StepOptions.DEFAULT);
  }

  private static List<Fitted> onTwo(float spread, StepOptions options) {
    try (LocalJob job = LocalJob.over("shm", 2)) {
      return job.run(
          weft -> {
            DefaultTrainingConfig config = SmallNetwork.config(1 + spread * weft.rank());
            return fitted(
                config
                    .addTrainingListeners(TrainingListener.Defaults.basic())
                    .addTrainingListeners(new DistributedListener(weft, options)),
                weft.rank(),
                weft.size());
          });
    }
  }

  /// Trains on this rank's rows of each batch.
  private static Fitted fitted(DefaultTrainingConfig config, int rank, int size) throws Exception {
    if (size == 1) {
      config.addTrainingListeners(TrainingListener.Defaults.basic());
    }
    config.addEvaluator(new Accuracy());
    int rows = 2 * ROWS / size;
    float[] features = new float[BATCHES * rows * SmallNetwork.FEATURES];
    long[] labels = new long[BATCHES * rows];
    for (int batch = 0; batch < BATCHES; batch++) {
      int first = batch * 2 * ROWS + rank * rows;
      int width = rows * SmallNetwork.FEATURES;
      System.arraycopy(SmallNetwork.features(first, rows), 0, features, batch * width, width);
      System.arraycopy(SmallNetwork.labels(first, rows), 0, labels, batch * rows, rows);
    }
    try (Model model = SmallNetwork.model(SmallNetwork.HIDDEN);
        Trainer trainer = new TrainerInTurn(model, config)) {
      var manager = trainer.getManager();
      var data =
          new ArrayDataset.Builder()
              .setData(
                  manager.create(features, new Shape((long) BATCHES * rows, SmallNetwork.FEATURES)))
              .optLabels(manager.create(labels))
              .setSampling(rows, false)
              .build();
      trainer.initialize(new Shape(rows, SmallNetwork.FEATURES));
      EasyTrain.fit(trainer, EPOCHS, data, null);
      return new Fitted(
          SmallNetwork.weights(model), new TreeMap<>(trainer.getTrainingResult().getEvaluations()));
    }
  }
}
