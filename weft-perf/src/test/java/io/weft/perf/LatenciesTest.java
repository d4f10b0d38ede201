// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.weft.perf.report.RankReport;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

final class LatenciesTest {

  private static Latencies of(long[] nanos) {
    List<Long> times = LongStream.of(nanos).boxed().toList();
    return Latencies.of(new RankReport.Sample("4", true, times, Map.of()), 1);
  }

  @Test
  void oneRoundGivesItsPercentiles() {
    Latencies latencies = of(LongStream.rangeClosed(1, 100).map(n -> n * 1000).toArray());
    assertThat(latencies.p50Micros()).isCloseTo(50, within(0.01));
    assertThat(latencies.p99Micros()).isCloseTo(99, within(0.02));
    assertThat(latencies.minMicros()).isCloseTo(1, within(0.001));
    assertThat(latencies.meanMicros()).isCloseTo(50.5, within(0.02));
  }

  @Test
  void aLongTailDoesNotTouchTheMedian() {
    Latencies latencies = of(new long[] {5_000, 5_000, 5_000, 3_600_000_000_000L});
    assertThat(latencies.p50Micros()).isCloseTo(5, within(0.001));
    assertThat(latencies.p99Micros()).isGreaterThan(3e9);
  }

  @Test
  void roundsAreReducedToMediansAndTheLeastMinimum() {
    Latencies over =
        Latencies.over(
            List.of(
                new Latencies(5, 50, 4, 6),
                new Latencies(9, 90, 1, 9),
                new Latencies(7, 70, 3, 8)));
    assertThat(over).isEqualTo(new Latencies(7, 70, 1, 8));
  }

  @Test
  void anEvenNumberOfRoundsHasTheMeanOfTheMiddleTwo() {
    Latencies over =
        Latencies.over(List.of(new Latencies(5, 50, 4, 6), new Latencies(9, 90, 1, 9)));
    assertThat(over).isEqualTo(new Latencies(7, 70, 1, 7.5));
  }
}
