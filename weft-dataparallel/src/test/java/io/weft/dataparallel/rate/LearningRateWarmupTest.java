// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.rate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class LearningRateWarmupTest {

  @Test
  void theRateGrowsLinearlyFromThatOfOneRankToThatOfAllRanks() {
    var warmup = new LearningRateWarmup(0.5, 9, 4);
    assertThat(warmup.at(0)).isEqualTo(0.5);
    assertThat(warmup.at(1)).isEqualTo(1.5);
    assertThat(warmup.at(2)).isEqualTo(2.5);
    assertThat(warmup.at(4)).isEqualTo(4.5);
    assertThat(warmup.at(1000)).isEqualTo(4.5);
  }

  @Test
  void withoutStepsTheRateIsScaledAtOnce() {
    assertThat(new LearningRateWarmup(0.5, 4, 0).at(0)).isEqualTo(2);
    assertThat(new LearningRateWarmup(0.5, 1, 10).at(5)).isEqualTo(0.5);
  }

  @Test
  void invalidRatesRanksAndStepsAreRefused() {
    assertThatThrownBy(() -> new LearningRateWarmup(0, 1, 1)).hasMessageContaining("got 0.0");
    assertThatThrownBy(() -> new LearningRateWarmup(Double.NaN, 1, 1))
        .hasMessageContaining("got NaN");
    assertThatThrownBy(() -> new LearningRateWarmup(1, 0, 1)).hasMessageContaining("0 ranks");
    assertThatThrownBy(() -> new LearningRateWarmup(1, 1, -1)).hasMessageContaining("-1 steps");
  }

  @Test
  void stepsBelowZeroAndRatesThatOverflowAreRefused() {
    var warmup = new LearningRateWarmup(0.5, 4, 10);
    assertThatThrownBy(() -> warmup.at(-1))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got step -1");
    assertThatThrownBy(() -> new LearningRateWarmup(1e308, 4, 10))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Infinity");
    assertThatThrownBy(() -> new LearningRateWarmup(1e38, 8, 10))
        .hasMessageContaining("that of 8 ranks 8.0E38, which FLOAT32 does not hold");
    for (double rate : new double[] {-0.0, -1, 1e-300, 1e-40, Double.POSITIVE_INFINITY}) {
      assertThatThrownBy(() -> new LearningRateWarmup(rate, 1, 0))
          .as("%s", rate)
          .isInstanceOf(IllegalArgumentException.class);
    }
  }
}
