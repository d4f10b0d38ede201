// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.assertj.core.api.Assertions.withinPercentage;

import io.weft.dataparallel.compress.Compression;
import io.weft.workloads.batch.Columns;
import io.weft.workloads.batch.RankShards;
import io.weft.workloads.data.Examples;
import io.weft.workloads.djl.DjlNetwork;
import io.weft.workloads.model.EngineKind;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/// Checks steps of several passes and steps of clipped gradients.
@Timeout(120)
class AccumulatedStepTest {

  private static final double FREE = Double.POSITIVE_INFINITY;

  /// 20 steps of 50 examples.
  private static final TrainingSettings SETTINGS = Runs.settings(1);

  private static TrainingSettings with(int passes, double largestNorm) {
    return SETTINGS.with(
        new GradientExchange.Averaged(new Compression.None(), passes, largestNorm));
  }

  private static TrainingOutcome trained(EngineKind engine, int ranks, TrainingSettings settings) {
    TrainingObserver silent = TrainingObserver.SILENT;
    return Runs.onAll(
            ranks,
            job ->
                engine == EngineKind.DJL
                    ? new NetworkTrainer(settings, Runs.DIGITS, job, silent, DjlNetwork::of)
                        .run(_ -> {})
                    : new Trainer(settings, Runs.DIGITS, job, silent).run())
        .getFirst();
  }

  @ParameterizedTest
  @CsvSource({"TENSORFLOW, 1, 5", "TENSORFLOW, 2, 4", "DJL, 1, 3"})
  void severalPassesAreAStepOfTheWholeBatch(EngineKind engine, int ranks, int passes) {
    TrainingOutcome whole = trained(engine, ranks, SETTINGS);
    TrainingOutcome parts = trained(engine, ranks, with(passes, FREE));
    assertThat(parts.losses()).hasSize(20);
    for (int step = 0; step < 20; step++) {
      assertThat(parts.losses().get(step))
          .as("loss of step %d", step)
          .isCloseTo(whole.losses().get(step), within(1e-3));
    }
    assertThat(parts.digests()).containsOnly(parts.digests().getFirst());
    assertThat(parts.traffic().bytesPerStep().orElse(1))
        .isCloseTo(whole.traffic().bytesPerStep().orElse(1), withinPercentage(1));
  }

  @Test
  void theShardOfARankIsCutIntoThePasses() {
    Examples all = Runs.DIGITS.train();
    var shards = new RankShards(new Columns(all.count(), 50, 1), 2, 1, 2);
    try (var feed = new RankFeed(all.select(shards.rows()), shards, 4)) {
      assertThat(feed.feeds())
          .extracting(each -> each.labels().shape().size())
          .containsExactly(6L, 6L, 6L, 7L);
      assertThat(feed.width()).isEqualTo(25);
    }
  }

  @ParameterizedTest
  @EnumSource(EngineKind.class)
  void aClippedTrainingLearnsLessAndAWideNormChangesNothing(EngineKind engine) {
    TrainingOutcome free = trained(engine, 1, SETTINGS);
    TrainingOutcome wide = trained(engine, 1, with(1, 1e6));
    assertThat(wide.digests()).isEqualTo(free.digests());
    TrainingOutcome narrow = trained(engine, 1, with(1, 1e-3));
    double learnt = free.losses().getFirst() - free.losses().getLast();
    double little = narrow.losses().getFirst() - narrow.losses().getLast();
    assertThat(little).isLessThan(0.5 * learnt);
    assertThat(narrow.losses().getFirst()).isEqualTo(free.losses().getFirst());
  }

  @Test
  void theLengthOfAClippedStepFollowsTheLearningRate() {
    // The loss falls in proportion to the length of a short step.
    assertThat(fall(AccumulatedStepTest::fallOfTensorFlow)).isCloseTo(2, within(0.05));
    assertThat(fall(AccumulatedStepTest::fallOfDjl)).isCloseTo(2, within(0.05));
  }

  private static double fall(BiFunction<TrainingJob, Float, Double> ofFactor) {
    List<Double> ratio =
        Runs.onAll(1, job -> ofFactor.apply(job, 1 / 50f) / ofFactor.apply(job, 0.5f / 50));
    return ratio.getFirst();
  }

  private static double fallOfTensorFlow(TrainingJob job, float factor) {
    Examples all = Runs.DIGITS.train();
    var shards = new RankShards(new Columns(all.count(), 50, 1), 1, 0, 1);
    try (var model = SessionModel.start(with(1, 0.1), all, job);
        var feed = new RankFeed(all.select(shards.rows()), shards, 1)) {
      feed.begin(0);
      feed.fill(0);
      return model.step(feed, factor, 0) - model.step(feed, factor, 1);
    }
  }

  private static double fallOfDjl(TrainingJob job, float factor) {
    Examples all = Runs.DIGITS.train();
    int[] order = new int[50];
    for (int i = 0; i < 50; i++) {
      order[i] = i;
    }
    try (RankNetwork network = DjlNetwork.of(with(1, 0.1), all, 50, job)) {
      return network.step(order, 0, factor) - network.step(order, 0, factor);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while testing", e);
    }
  }

  @Test
  void aCheckpointContinuesWithAnotherNumberOfPasses(@TempDir Path directory) {
    TrainingSettings one = Runs.saving(SETTINGS, directory);
    TrainingSettings two =
        Runs.saving(Runs.settings(2), directory)
            .with(new GradientExchange.Averaged(new Compression.None(), 2, FREE));
    TrainingOutcome whole = trained(EngineKind.TENSORFLOW, 1, one);
    TrainingOutcome continued = trained(EngineKind.TENSORFLOW, 1, two);
    assertThat(continued.losses()).hasSize(40);
    assertThat(continued.losses().subList(0, 20)).isEqualTo(whole.losses());
  }

  @Test
  void passesWithoutAnExampleAreRefused() {
    TrainingSettings tooMany = with(30, FREE);
    assertThatThrownBy(() -> trained(EngineKind.TENSORFLOW, 2, tooMany))
        .hasStackTraceContaining(
            "--batch 1 times --accumulate 30 leaves some of 2 ranks without an example");
  }
}
