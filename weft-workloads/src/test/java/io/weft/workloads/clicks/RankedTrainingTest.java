// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.clicks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.weft.WeftConfig;
import io.weft.agent.Ticker;
import io.weft.telemetry.timeline.Timeline;
import io.weft.testkit.job.LocalJob;
import io.weft.workloads.model.OptimizerKind;
import io.weft.workloads.model.Workload;
import io.weft.workloads.training.ReadMode;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.Trainer;
import io.weft.workloads.training.TrainingJob;
import io.weft.workloads.training.TrainingObserver;
import io.weft.workloads.training.TrainingOutcome;
import io.weft.workloads.training.TrainingSettings;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class RankedTrainingTest {

  private static final SyntheticClicks CLICKS = new SyntheticClicks(20, 12_000, 11);

  private static final TrainingSettings SETTINGS =
      new TrainingSettings(
          Workload.WIDE_DEEP,
          3,
          120,
          0.05f,
          OptimizerKind.MOMENTUM,
          5,
          new Sync.Gradients(),
          ReadMode.SHARDED,
          Optional.empty());

  @Test
  void twoRanksRankAsWellAsOne() {
    TrainingOutcome alone = together(1).getFirst();
    List<TrainingOutcome> both = together(2);
    assertThat(alone.auc()).isPresent();
    assertThat(alone.auc().getAsDouble()).isBetween(0.7, 0.95);
    for (TrainingOutcome outcome : both) {
      assertThat(outcome.auc()).hasValueCloseTo(alone.auc().getAsDouble(), within(0.005));
      assertThat(outcome.digests()).containsOnly(both.getFirst().digests().getFirst());
    }
  }

  private static List<TrainingOutcome> together(int ranks) {
    WeftConfig config = WeftConfig.builder().transport("inproc").build();
    try (LocalJob job = LocalJob.start(ranks, config)) {
      return job.run(
          weft ->
              new Trainer(
                      SETTINGS,
                      CLICKS,
                      TrainingJob.of(
                          weft, OptionalInt.of(1), new Timeline(Ticker.SYSTEM, Timeline.FEWEST)),
                      TrainingObserver.SILENT)
                  .run());
    }
  }
}
