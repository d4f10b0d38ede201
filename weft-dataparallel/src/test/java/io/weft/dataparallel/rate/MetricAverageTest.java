// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.rate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import io.weft.testkit.job.LocalJob;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class MetricAverageTest {

  private static SortedMap<String, Double> metrics(Map<String, Double> values) {
    return new TreeMap<>(values);
  }

  @Test
  void meansAreWeightedAndTheSameOnAllRanks() {
    double[] weights = {3, 1, 0};
    double[] losses = {0.5, 4.5, Double.NaN};
    double[] accuracies = {0.75, 0.25, 7};
    try (LocalJob job = LocalJob.over("inproc", 3)) {
      for (SortedMap<String, Double> means :
          job.run(
              weft -> {
                int rank = weft.rank();
                var own = metrics(Map.of("loss", losses[rank], "accuracy", accuracies[rank]));
                return MetricAverage.over(weft.communicator(), "epoch", own, weights[rank]);
              })) {
        assertThat(means).isEqualTo(metrics(Map.of("accuracy", 0.625, "loss", 1.5)));
      }
    }
  }

  @Test
  void otherNamesOrNumbersOfThemAreNamedOnAllRanks() {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      job.run(
          weft -> {
            var name = metrics(Map.of(weft.rank() == 0 ? "loss" : "cost", 1.0));
            assertThatThrownBy(() -> MetricAverage.over(weft.communicator(), "e", name, 1))
                .isInstanceOf(CommException.Mismatch.class)
                .hasMessageContaining("rank " + (1 - weft.rank()) + " has other names");
            var number = metrics(weft.rank() == 0 ? Map.of("a", 1.0) : Map.of("a", 1.0, "b", 1.0));
            assertThatThrownBy(() -> MetricAverage.over(weft.communicator(), "e", number, 1))
                .isInstanceOf(CommException.Mismatch.class);
            assertThatThrownBy(() -> MetricAverage.over(weft.communicator(), "e", name, -1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("got -1.0");
            return true;
          });
    }
  }
}
