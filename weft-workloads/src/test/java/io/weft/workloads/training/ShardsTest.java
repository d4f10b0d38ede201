// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.WeftConfig;
import io.weft.agent.Ticker;
import io.weft.telemetry.timeline.Timeline;
import io.weft.testkit.job.LocalJob;
import io.weft.workloads.model.OptimizerKind;
import java.util.List;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(300)
class ShardsTest {

  private static TrainingSettings settings(int shards, OptimizerKind optimizer, ReadMode read) {
    TrainingSettings s = Runs.settings(1);
    return new TrainingSettings(
            s.workload(),
            1,
            50,
            s.workload().defaultRate(optimizer),
            optimizer,
            s.seed(),
            s.sync(),
            read,
            s.checkpoint())
        .with(new GradientExchange.Shards(shards));
  }

  private static TrainingOutcome trained(String transport, int ranks, TrainingSettings settings) {
    WeftConfig config = WeftConfig.builder().transport(transport).build();
    try (LocalJob job = LocalJob.start(ranks, config)) {
      return job.run(
              weft ->
                  new Trainer(
                          settings,
                          Runs.DIGITS,
                          TrainingJob.of(
                              weft,
                              OptionalInt.of(1),
                              new Timeline(Ticker.SYSTEM, Timeline.FEWEST)),
                          TrainingObserver.SILENT)
                      .run())
          .getFirst();
    }
  }

  @ParameterizedTest
  @EnumSource(OptimizerKind.class)
  void weightsAndLossesHaveTheSameBitsOnEachNumberOfRanks(OptimizerKind optimizer) {
    TrainingSettings settings = settings(8, optimizer, ReadMode.SHARDED);
    TrainingOutcome one = trained("inproc", 1, settings);
    assertThat(one.losses().getLast()).isLessThan(one.losses().getFirst());
    for (int ranks : new int[] {2, 4, 8}) {
      TrainingOutcome more = trained("inproc", ranks, settings);
      assertThat(more.digests()).as("%d ranks", ranks).hasSize(ranks);
      assertThat(more.digests()).as("%d ranks", ranks).containsOnly(one.digests().getFirst());
      assertThat(more.losses()).as("%d ranks", ranks).isEqualTo(one.losses());
    }
  }

  @Test
  void neitherTransportNorReaderChangesTheBits() {
    TrainingSettings own = settings(4, OptimizerKind.MOMENTUM, ReadMode.SHARDED);
    TrainingSettings sent = settings(4, OptimizerKind.MOMENTUM, ReadMode.ROOT);
    TrainingOutcome one = trained("inproc", 1, own);
    for (TrainingOutcome other :
        List.of(trained("tcp", 4, own), trained("tcp", 2, sent), trained("inproc", 4, sent))) {
      assertThat(other.digests()).containsOnly(one.digests().getFirst());
      assertThat(other.losses()).isEqualTo(one.losses());
    }
  }

  @Test
  void anotherNumberOfShardsHasOtherBits() {
    assertThat(trained("inproc", 1, settings(2, OptimizerKind.SGD, ReadMode.SHARDED)).digests())
        .isNotEqualTo(
            trained("inproc", 1, settings(8, OptimizerKind.SGD, ReadMode.SHARDED)).digests());
  }

  @Test
  void ranksThatDoNotDivideTheShardsAreRefused() {
    TrainingSettings four = settings(4, OptimizerKind.SGD, ReadMode.SHARDED);
    assertThatThrownBy(() -> Runs.together(3, four))
        .isInstanceOf(TrainingException.Unfit.class)
        .hasMessageContaining("4 shards cannot be divided among 3 ranks");
    TrainingSettings many = settings(64, OptimizerKind.SGD, ReadMode.SHARDED);
    assertThatThrownBy(() -> Runs.together(2, many))
        .isInstanceOf(TrainingException.Unfit.class)
        .hasMessageContaining("--batch 50")
        .hasMessageContaining("at least 64");
  }

  @Test
  void neighboursAreAddedFirst() {
    // (1e17 + 1) + (-1e17 + 1) loses both ones in this tree, and in no other.
    assertThat(ShardTree.sum(new double[] {1e17, 1, -1e17, 1})).isZero();
    assertThat(ShardTree.sum(new double[] {1e17, -1e17, 1, 1})).isEqualTo(2);
  }
}
