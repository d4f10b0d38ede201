// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.rate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.comm.CommException;
import io.weft.testkit.job.LocalJob;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
                return MetricAverage.of(weft.communicator(), "epoch", own, weights[rank]);
              })) {
        assertThat(means).isEqualTo(metrics(Map.of("accuracy", 0.625, "loss", 1.5)));
      }
    }
  }

  @Test
  void differentNamesOrCountsOfMetricsFailOnAllRanks() {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      job.run(
          weft -> {
            var name = metrics(Map.of(weft.rank() == 0 ? "loss" : "cost", 1.0));
            assertThatThrownBy(() -> MetricAverage.of(weft.communicator(), "e", name, 1))
                .isInstanceOf(CommException.Mismatch.class)
                .hasMessageContaining("metrics 'e': rank 0 has [loss], rank 1 has [cost]");
            var number = metrics(weft.rank() == 0 ? Map.of("a", 1.0) : Map.of("a", 1.0, "b", 1.0));
            assertThatThrownBy(() -> MetricAverage.of(weft.communicator(), "e", number, 1))
                .isInstanceOf(CommException.Mismatch.class)
                .hasMessageContaining("rank 0 has [a], rank 1 has [a, b]");
            assertThatThrownBy(() -> MetricAverage.of(weft.communicator(), "e", name, -1))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("got -1.0");
            return true;
          });
    }
  }

  @Test
  void namesWithEqualHashesAndJoinedNamesAreDistinguished() {
    List<List<String>> pairs =
        List.of(List.of("Aa", "BB"), List.of("a\nb", "a", "b"), List.of("", "a"));
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      job.run(
          weft -> {
            for (List<String> pair : pairs) {
              var own = new TreeMap<String, Double>();
              List<String> names =
                  weft.rank() == 0 ? pair.subList(0, 1) : pair.subList(1, pair.size());
              names.forEach(name -> own.put(name, 1.0));
              assertThatThrownBy(() -> MetricAverage.of(weft.communicator(), "e", own, 1))
                  .isInstanceOf(CommException.Mismatch.class)
                  .hasMessageContaining("rank 0 has")
                  .hasMessageContaining("rank 1 has");
            }
            var same = MetricAverage.of(weft.communicator(), "e", metrics(Map.of("ä", 2.0)), 1);
            assertThat(same).isEqualTo(metrics(Map.of("ä", 2.0)));
            return true;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(doubles = {-1, Double.NaN, Double.POSITIVE_INFINITY, Double.MAX_VALUE})
  void invalidWeightsAreRefused(double weight) {
    try (LocalJob job = LocalJob.over("inproc", 1)) {
      job.run(
          weft -> {
            var own = metrics(Map.of("a", 1.0));
            assertThatThrownBy(() -> MetricAverage.of(weft.communicator(), "e", own, weight))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("got " + weight);
            return true;
          });
    }
  }
}
