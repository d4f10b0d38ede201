// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.agent.Ticker;
import io.weft.testkit.job.LocalJob;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(60)
class ClockTest {

  /// Messages of random delay pass between two clocks, and one clock is ahead.
  @ParameterizedTest
  @ValueSource(longs = {0, 1, -3_000_000_000L, 86_400_000_000_000L})
  void offsetIsFoundWithinItsUncertainty(long ahead) {
    for (long seed = 0; seed < 200; seed++) {
      var random = new Random(seed);
      var bounds = new ClockBounds();
      long now = 1_000_000;
      for (int i = 0; i < 8; i++) {
        long there = now + 20_000 + random.nextInt(1_000_000);
        bounds.received(now, there + ahead);
        long back = there + 20_000 + random.nextInt(1_000_000);
        bounds.sent(there + ahead, back);
        now = back;
      }
      ClockSample sample = bounds.sample(now + ahead);
      assertThat(sample.offsetNanos())
          .as("seed %d", seed)
          .isCloseTo(ahead, within(sample.uncertaintyNanos()));
      assertThat(sample.uncertaintyNanos()).isBetween(20_000L, 1_020_000L);
    }
  }

  @Test
  void oneDirectionDoesNotSuffice() {
    var bounds = new ClockBounds();
    bounds.received(1, 2);
    assertThatThrownBy(() -> bounds.sample(3)).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void driftIsLinearBetweenSamples() {
    ClockLine line =
        ClockLine.through(List.of(new ClockSample(3000, 300, 1), new ClockSample(1000, 100, 1)));
    assertThat(line.rankZeroNanos(500)).isEqualTo(400);
    assertThat(line.rankZeroNanos(1000)).isEqualTo(900);
    assertThat(line.rankZeroNanos(2000)).isEqualTo(1800);
    assertThat(line.rankZeroNanos(3000)).isEqualTo(2700);
    assertThat(line.rankZeroNanos(4000)).isEqualTo(3700);
    assertThat(ClockLine.through(List.of()).rankZeroNanos(5)).isEqualTo(5);
    assertThat(ClockLine.through(List.of(new ClockSample(9, 2, 1))).rankZeroNanos(5)).isEqualTo(3);
  }

  /// Each rank of a real job has its own clock.
  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void ranksOfOneJobFindTheSkewOfTheirClocks(String transport) {
    try (LocalJob job = LocalJob.over(transport, 4)) {
      List<ClockSample> samples =
          job.run(
              weft -> {
                long skew = weft.rank() * 1_000_000_000L;
                Ticker skewed = () -> Ticker.SYSTEM.nanos() + skew;
                return ClockExchange.compare(weft.communicator(), skewed);
              });
      assertThat(samples.getFirst().offsetNanos()).isZero();
      for (int rank = 1; rank < 4; rank++) {
        ClockSample sample = samples.get(rank);
        assertThat(sample.offsetNanos())
            .isCloseTo(rank * 1_000_000_000L, within(sample.uncertaintyNanos()));
        assertThat(sample.uncertaintyNanos()).isLessThan(500_000_000L);
      }
    }
  }
}
