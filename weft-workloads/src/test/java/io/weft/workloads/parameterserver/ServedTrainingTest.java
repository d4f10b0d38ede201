// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.comm.CommException;
import io.weft.workloads.clicks.SyntheticClicks;
import io.weft.workloads.digits.SyntheticDigits;
import io.weft.workloads.model.Workload;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.TrainingOutcome;
import io.weft.workloads.training.TrainingSettings;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(600)
class ServedTrainingTest {

  private static final Servers TWO_AND_TWO = new Servers(Servers.Via.WEFT, 2, 2, 0);
  private static final SyntheticClicks CLICKS = new SyntheticClicks(20, 12_000, 11);
  private static final TrainingSettings ASYNCHRONOUS =
      ServedRuns.settings(Workload.WIDE_DEEP, 120, 0.05f, new Sync.Asynchronous());

  @Test
  void asynchronousWorkersRankAsWellAsOneRank() {
    ServedResult served = ServedRuns.served(ASYNCHRONOUS, TWO_AND_TWO, CLICKS, "inproc");
    TrainingOutcome alone =
        ServedRuns.alone(
            ServedRuns.settings(Workload.WIDE_DEEP, 120, 0.05f, new Sync.Gradients()), CLICKS);
    assertThat(served.outcome().auc()).hasValueCloseTo(alone.auc().orElseThrow(), within(0.02));
    assertThat(served.outcome().losses()).hasSize(100).allMatch(Double::isFinite);
    assertThat(served.outcome().finalLoss()).isLessThan(served.outcome().losses().getFirst());
    assertThat(served.facts().mode()).isEqualTo("async");
    assertThat(served.facts().lost().lostWorkers()).isEmpty();
  }

  @Test
  void fusionSendsFewerRequests() {
    double fused = requests("fused");
    double single = requests("single");
    assertThat(fused).isPositive().isLessThan(0.45 * single);
  }

  private static double requests(String how) {
    var few = new SyntheticClicks(20, 600, 11);
    return ServedRuns.served(
            ASYNCHRONOUS,
            TWO_AND_TWO,
            few,
            Map.of("WEFT_TRANSPORT", "inproc", "WEFT_RENDEZVOUS_REQUESTS", how))
        .facts()
        .requestsPerStep();
  }

  @Test
  void aJobOfAnotherSizeIsRefused() {
    var three = new Servers(Servers.Via.WEFT, 2, 1, 0);
    var digits = new SyntheticDigits(1, 200, 100);
    assertThatThrownBy(
            () -> {
              try (var job = io.weft.testkit.job.LocalJob.over("inproc", 2)) {
                job.run(
                    weft ->
                        new ServedTraining(
                                ASYNCHRONOUS,
                                three,
                                digits,
                                weft,
                                1,
                                io.weft.workloads.training.TrainingObserver.SILENT)
                            .run());
              }
            })
        .isInstanceOf(CommException.Setup.class)
        .hasMessageContaining("1 servers and 2 workers are 3 ranks, but the job has 2");
  }
}
