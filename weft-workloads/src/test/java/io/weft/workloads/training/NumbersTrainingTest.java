// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Floats;
import io.weft.workloads.data.SyntheticNumbers;
import io.weft.workloads.model.OptimizerKind;
import io.weft.workloads.model.Workload;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(120)
class NumbersTrainingTest {

  @ParameterizedTest
  @EnumSource(names = {"ACOUSTIC_DNN", "HIGGS_DNN"})
  void networksOfNumbersLearnAlikeOnOneRankAndOnTwo(Workload workload) {
    TrainingSettings settings =
        new TrainingSettings(
            workload,
            1,
            128,
            workload.defaultRate(OptimizerKind.MOMENTUM),
            OptimizerKind.MOMENTUM,
            1,
            new Sync.Gradients(),
            ReadMode.SHARDED,
            Optional.empty());
    DataSource source = small(workload);
    TrainingOutcome alone =
        new Trainer(settings, source, new SoloJob(), TrainingObserver.SILENT).run();
    List<TrainingOutcome> together =
        Runs.onAll(2, job -> new Trainer(settings, source, job, TrainingObserver.SILENT).run());
    double accuracy = alone.accuracies().getFirst();
    assertThat(accuracy).isGreaterThan(0.7);
    assertThat(together.getFirst().digests())
        .hasSize(2)
        .containsOnly(together.getFirst().digests().getFirst());
    assertThat(together.getFirst().accuracies().getFirst()).isCloseTo(accuracy, within(0.02));
  }

  private static DataSource small(Workload workload) {
    int numbers = workload.features() / Floats.BYTES;
    return new SyntheticNumbers("numbers", "rows", numbers, workload.classes(), 6_000, 1_000, 1);
  }
}
