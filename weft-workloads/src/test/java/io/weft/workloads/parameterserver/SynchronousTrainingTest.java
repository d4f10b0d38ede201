// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.workloads.clicks.SyntheticClicks;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.Source;
import io.weft.workloads.digits.SyntheticDigits;
import io.weft.workloads.model.Workload;
import io.weft.workloads.training.Outcome;
import io.weft.workloads.training.Settings;
import io.weft.workloads.training.Sync;
import java.util.List;
import java.util.Random;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Steps that all workers take together: they lose what one rank alone loses.
@Timeout(600)
class SynchronousTrainingTest {

  private static final Percentage CLOSE = Percentage.withPercentage(1e-3);
  private static final Servers TWO_AND_TWO = new Servers(Servers.Via.WEFT, 2, 2, 0);

  @Test
  void digitsAreLearntAsOnOneRankAndInTheSameBitsOverEachTransport() {
    Settings settings = settings(Workload.MNIST_DNN, 50, 0.05f);
    var digits = new SyntheticDigits(1, 500, 100);
    Outcome inproc = assertAsAlone(settings, digits);
    for (String transport : List.of("tcp", "shm")) {
      Outcome other = ServedRuns.served(settings, TWO_AND_TWO, digits, transport).outcome();
      assertThat(other.losses()).as(transport).isEqualTo(inproc.losses());
      assertThat(other.digests()).as(transport).isEqualTo(inproc.digests());
    }
  }

  @Test
  void convolutionsAreLearntAsOnOneRank() {
    assertAsAlone(settings(Workload.MNIST_CNN, 20, 0.02f), new SyntheticDigits(1, 100, 40));
  }

  @Test
  void narrowAlexnetLosesWhatOneRankLoses() {
    assertAsAlone(settings(Workload.ALEXNET, 4, 0.001f), new Noise(3 * 67 * 67));
  }

  @Test
  void clicksAreRankedAsOnOneRank() {
    assertAsAlone(settings(Workload.WIDE_DEEP, 60, 0.05f), new SyntheticClicks(20, 600, 11));
  }

  @Test
  void nobodyWaitsForBackupWorkersAndWhatComesLateIsCounted() {
    var servers = new Servers(Servers.Via.WEFT, 3, 1, 1);
    var digits = new SyntheticDigits(1, 600, 100);
    Settings settings = settings(Workload.MNIST_DNN, 30, 0.05f);
    Served served = ServedRuns.served(settings, servers, digits, "inproc");
    assertThat(served.outcome().losses()).hasSize(20).allMatch(Double::isFinite);
    assertThat(served.outcome().losses().getLast())
        .isLessThan(served.outcome().losses().getFirst());
    assertThat(served.facts().droppedGradients()).isBetween(0L, 20L);
    assertThat(served.facts().mode()).isEqualTo("sync");
  }

  private static Settings settings(Workload workload, int batch, float rate) {
    return ServedRuns.settings(workload, batch, rate, new Sync.Gradients());
  }

  private static Outcome assertAsAlone(Settings settings, Source source) {
    Outcome alone = ServedRuns.alone(settings, source);
    Outcome served = ServedRuns.served(settings, TWO_AND_TWO, source, "inproc").outcome();
    assertThat(served.losses()).hasSameSizeAs(alone.losses());
    for (int step = 0; step < alone.losses().size(); step++) {
      assertThat(served.losses().get(step))
          .as("loss of step " + step)
          .isCloseTo(alone.losses().get(step), CLOSE);
    }
    assertThat(alone.losses().getFirst()).isNotEqualTo(alone.losses().getLast());
    return served;
  }

  /// Images of noise.
  private record Noise(int features) implements Source {

    @Override
    public String name() {
      return "noise";
    }

    @Override
    public void check() {}

    @Override
    public Examples train() {
      return draw(24);
    }

    @Override
    public Examples test() {
      return draw(4);
    }

    private Examples draw(int count) {
      var random = new Random(count);
      byte[] values = new byte[count * features];
      random.nextBytes(values);
      byte[] labels = new byte[count];
      for (int i = 0; i < count; i++) {
        labels[i] = (byte) random.nextInt(100);
      }
      return new Examples(features, 100, 1f / 255, values, labels);
    }
  }
}
