// SPDX-License-Identifier: Apache-2.0
package io.weft.djl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import ai.djl.Model;
import ai.djl.ndarray.types.Shape;
import io.weft.Weft;
import io.weft.dataparallel.local.LocalSgdOptions;
import io.weft.dataparallel.local.OuterOptimizer;
import io.weft.testkit.job.LocalJob;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class LocalTrainerTest {

  private static final int STEPS = 6;
  private static final int ROWS = 8;
  private static final Shape INPUT = new Shape(ROWS, SmallNetwork.FEATURES);

  /// The weights of a rank before and after the last exchange.
  private record Trained(
      String before, String after, long outerSteps, Map<String, float[]> weights) {}

  @BeforeAll
  static void loadPyTorch() {
    var unused = PyTorch.load();
  }

  private static List<Trained> together(int ranks, LocalSgdOptions options) {
    try (LocalJob job = LocalJob.over("shm", ranks)) {
      return job.run(weft -> trained(weft, options));
    }
  }

  private static Trained trained(Weft weft, LocalSgdOptions options) {
    float scale = 1 + weft.rank(); // the broadcast replaces all weights but rank 0's
    var config = SmallNetwork.config(scale);
    try (Model model = SmallNetwork.model(SmallNetwork.HIDDEN);
        var trainer = new LocalTrainer(weft.communicator(), options, model, config)) {
      trainer.initialize(INPUT);
      for (int step = 0; step < STEPS; step++) {
        SmallNetwork.step(trainer, (weft.size() * step + weft.rank()) * ROWS, ROWS);
      }
      String before = trainer.digest();
      trainer.synchronize();
      return new Trained(
          before, trainer.digest(), trainer.outerSteps(), SmallNetwork.weights(model));
    }
  }

  @Test
  void averagingInEachStepTrainsLikeOneRankWithTheWholeBatch() {
    Map<String, float[]> alone = SmallNetwork.trainedAlone(STEPS, 2 * ROWS);
    var options = LocalSgdOptions.every(1).after(0).by(OuterOptimizer.MEAN);
    List<Trained> ranks = together(2, options);
    assertThat(ranks.getFirst().outerSteps()).isEqualTo(STEPS);
    alone.forEach(
        (name, weights) ->
            assertThat(ranks.getFirst().weights().get(name))
                .as(name)
                .containsExactly(weights, within(1e-5f)));
  }

  @Test
  void ranksDifferBetweenExchangesAndNotAfterOne() {
    List<Trained> ranks = together(2, LocalSgdOptions.every(100));
    assertThat(ranks.getFirst().before()).isNotEqualTo(ranks.getLast().before());
    assertThat(ranks.getFirst().after()).isEqualTo(ranks.getLast().after());
    assertThat(ranks.getFirst().outerSteps()).isEqualTo(1);
  }

  @Test
  void aSingleRankTrainsWithoutExchanges() {
    Map<String, float[]> alone = SmallNetwork.trainedAlone(STEPS, ROWS);
    Trained rank = together(1, LocalSgdOptions.every(2)).getFirst();
    assertThat(rank.outerSteps()).isZero();
    alone.forEach((name, weights) -> assertThat(rank.weights().get(name)).isEqualTo(weights));
  }
}
