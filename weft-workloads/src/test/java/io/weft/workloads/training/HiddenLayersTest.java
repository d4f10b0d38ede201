// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.workloads.model.Activation;
import io.weft.workloads.model.Hidden;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class HiddenLayersTest {

  @Test
  void sigmoidNeuronsLearnOtherWeightsThanTheDefault() {
    Hidden sigmoid = Hidden.STANDARD.with(Activation.SIGMOID);
    TrainingOutcome trained = Runs.alone(Runs.settings(4).with(sigmoid));
    assertThat(trained.losses().getLast()).isLessThan(trained.losses().getFirst());
    assertThat(trained.digests()).isNotEqualTo(Runs.alone(Runs.settings(4)).digests());
  }

  @Test
  void dropoutIsReproducibleAndLearns() {
    TrainingSettings settings = Runs.settings(3).with(Hidden.STANDARD.with(0.5f));
    List<TrainingOutcome> once = Runs.together(2, settings);
    List<TrainingOutcome> again = Runs.together(2, settings);
    TrainingOutcome outcome = once.getFirst();
    assertThat(outcome.digests()).hasSize(2).containsOnly(outcome.digests().getFirst());
    assertThat(again.getFirst().digests()).isEqualTo(outcome.digests());
    assertThat(outcome.losses().getLast()).isLessThan(outcome.losses().getFirst());
    assertThat(outcome.digests().getFirst())
        .isNotEqualTo(Runs.together(2, Runs.settings(3)).getFirst().digests().getFirst());
  }

  @Test
  void dropoutOfShardsDoesNotDependOnTheRanks() {
    TrainingSettings settings =
        Runs.settings(1).with(Hidden.STANDARD.with(0.3f)).with(new GradientExchange.Shards(4));
    assertThat(Runs.together(2, settings).getFirst().digests().getFirst())
        .isEqualTo(Runs.alone(settings).digests().getFirst());
  }
}
