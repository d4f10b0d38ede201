// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.keyvalue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.WeftConfig;
import io.weft.comm.CommException;
import io.weft.testkit.job.LocalJob;
import io.weft.workloads.clicks.SyntheticClicks;
import io.weft.workloads.model.OptimizerKind;
import io.weft.workloads.model.Workload;
import io.weft.workloads.parameterserver.ServedResult;
import io.weft.workloads.parameterserver.ServedTraining;
import io.weft.workloads.parameterserver.Servers;
import io.weft.workloads.training.ReadMode;
import io.weft.workloads.training.SoloJob;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.Trainer;
import io.weft.workloads.training.TrainingObserver;
import io.weft.workloads.training.TrainingSettings;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// Checks the wide and deep network on two servers and two workers, within one process.
@Timeout(600)
class KeyValueTrainingTest {

  private static final Servers TWO_AND_TWO = new Servers(Servers.Via.PS, 2, 2, 0);
  private static final Servers HYBRID =
      new Servers(Servers.Via.PS, 2, 2, 0, Servers.Dense.ALLREDUCE);
  private static final SyntheticClicks CLICKS = new SyntheticClicks(20, 12_000, 11);
  private static final int STEPS = 100;
  private static final double ALONE =
      new Trainer(settings(new Sync.Gradients()), CLICKS, new SoloJob(), TrainingObserver.SILENT)
          .run()
          .auc()
          .orElseThrow();

  static Stream<Sync> syncs() {
    return Stream.of(new Sync.Gradients(), new Sync.Bounded(2), new Sync.Asynchronous());
  }

  @ParameterizedTest
  @MethodSource("syncs")
  void workersRankAsWellAsOneRank(Sync sync) {
    ServedResult served = train(settings(sync), TWO_AND_TWO, "inproc");
    assertThat(served.outcome().auc()).hasValueCloseTo(ALONE, within(0.02));
    assertThat(served.outcome().losses()).hasSize(STEPS).allMatch(Double::isFinite);
    assertThat(served.outcome().finalLoss()).isLessThan(served.outcome().losses().getFirst());
    assertThat(served.facts().via()).isEqualTo("ps");
    assertThat(served.facts().mode()).isEqualTo(sync.toString());
    assertThat(served.facts().tables().pushes()).isEqualTo(2 * 3 * STEPS);
    assertThat(served.facts().tables().pulls()).isEqualTo(2 * 3 * STEPS);
  }

  @ParameterizedTest
  @MethodSource("syncs")
  void reducedDenseLayersAreEqualOnAllWorkersForEveryConsistency(Sync sync) {
    ServedResult served = train(settings(sync), HYBRID, "inproc");
    assertThat(served.outcome().auc()).hasValueCloseTo(ALONE, within(0.02));
    List<String> digests = served.outcome().digests();
    assertThat(digests).hasSize(2).containsOnly(digests.getFirst());
    assertThat(served.facts().tables().pushes()).isEqualTo(2 * 2 * STEPS);
  }

  @Test
  void aJobOfAnotherSizeIsRefused() {
    assertThatThrownBy(
            () -> {
              try (var job = LocalJob.over("inproc", 2)) {
                job.run(
                    weft ->
                        new KeyValueTraining(
                                new ServedTraining(
                                    settings(new Sync.Asynchronous()),
                                    TWO_AND_TWO,
                                    CLICKS,
                                    weft,
                                    1,
                                    TrainingObserver.SILENT))
                            .run());
              }
            })
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("2 servers and 2 workers are 4 ranks, but the job has 2");
  }

  private static TrainingSettings settings(Sync sync) {
    return new TrainingSettings(
        Workload.WIDE_DEEP,
        1,
        120,
        0.05f,
        OptimizerKind.MOMENTUM,
        7,
        sync,
        ReadMode.SHARDED,
        Optional.empty());
  }

  private static ServedResult train(TrainingSettings settings, Servers servers, String transport) {
    WeftConfig config =
        WeftConfig.builder().transport(transport).deadline(Duration.ofMinutes(5)).build();
    try (LocalJob job = LocalJob.start(servers.ranks(), config)) {
      return DenseTrainingTest.result(job, settings, servers, CLICKS);
    }
  }
}
