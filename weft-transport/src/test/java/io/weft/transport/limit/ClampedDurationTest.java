// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;

class ClampedDurationTest {

  @Test
  void spansThatFitAreExact() {
    assertThat(ClampedDuration.nanos(Duration.ofNanos(7))).isEqualTo(7);
    assertThat(ClampedDuration.nanos(Duration.ofSeconds(-3))).isEqualTo(-3_000_000_000L);
    assertThat(ClampedDuration.millis(Duration.ofNanos(1_999_999))).isEqualTo(1);
  }

  @Test
  void threeLongestSpansAndAClockDoNotOverflow() {
    long forever = ClampedDuration.nanos(ChronoUnit.FOREVER.getDuration());
    assertThat(forever).isGreaterThan(ClampedDuration.nanos(Duration.ofDays(365 * 70)));
    assertThat(3 * forever + ClampedDuration.nanos(Duration.ofDays(365 * 70))).isPositive();
    assertThat(ClampedDuration.millis(ChronoUnit.FOREVER.getDuration())).isPositive();
  }

  @Test
  void theMostNegativeDurationStaysNegative() {
    assertThat(ClampedDuration.nanos(Duration.ofSeconds(Long.MIN_VALUE))).isNegative();
  }
}
