// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.workloads.digits.SyntheticDigits;
import io.weft.workloads.model.Workload;
import io.weft.workloads.training.TrainingOutcome;
import java.util.List;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks that synchronous steps of all workers have the losses of one rank.
@Timeout(600)
class SynchronousTrainingTest {

  private static final Percentage CLOSE = Percentage.withPercentage(1e-3);
  private static final Servers TWO_AND_TWO = new Servers(Servers.Via.WEFT, 2, 2, 0);

  @Test
  void lossesAreThoseOfOneRankWithTheSameBitsOverEachTransport() {
    var digits = SmallTraining.of(Workload.MNIST_DNN, 50, 0.05f, new SyntheticDigits(1, 500, 100));
    TrainingOutcome inproc = assertAsAlone(digits);
    for (String transport : List.of("tcp", "shm")) {
      TrainingOutcome other = served(digits, transport);
      assertThat(other.losses()).as(transport).isEqualTo(inproc.losses());
      assertThat(other.digests()).as(transport).isEqualTo(inproc.digests());
    }
  }

  @Test
  void backupWorkersAreNotAwaitedAndLateGradientsAreCounted() {
    var servers = new Servers(Servers.Via.WEFT, 3, 1, 1);
    var digits = SmallTraining.of(Workload.MNIST_DNN, 30, 0.05f, new SyntheticDigits(1, 600, 100));
    ServedResult served = ServedRuns.served(digits.settings(), servers, digits.source(), "inproc");
    assertThat(served.outcome().losses()).hasSize(20).allMatch(Double::isFinite);
    assertThat(served.outcome().losses().getLast())
        .isLessThan(served.outcome().losses().getFirst());
    assertThat(served.facts().lost().droppedGradients()).isBetween(0L, 20L);
    assertThat(served.facts().mode()).isEqualTo("sync");
  }

  private static TrainingOutcome served(SmallTraining training, String transport) {
    return ServedRuns.served(training.settings(), TWO_AND_TWO, training.source(), transport)
        .outcome();
  }

  private static TrainingOutcome assertAsAlone(SmallTraining training) {
    TrainingOutcome alone = ServedRuns.alone(training.settings(), training.source());
    TrainingOutcome served = served(training, "inproc");
    assertThat(served.losses()).hasSameSizeAs(alone.losses());
    for (int step = 0; step < alone.losses().size(); step++) {
      assertThat(served.losses().get(step))
          .as("loss of step " + step)
          .isCloseTo(alone.losses().get(step), CLOSE);
    }
    assertThat(alone.losses().getFirst()).isNotEqualTo(alone.losses().getLast());
    return served;
  }
}
