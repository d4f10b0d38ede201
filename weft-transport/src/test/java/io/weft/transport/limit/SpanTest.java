// SPDX-License-Identifier: Apache-2.0
package io.weft.transport.limit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.junit.jupiter.api.Test;

class SpanTest {

  @Test
  void spansThatFitAreExact() {
    assertThat(Span.nanos(Duration.ofNanos(7))).isEqualTo(7);
    assertThat(Span.nanos(Duration.ofSeconds(-3))).isEqualTo(-3_000_000_000L);
    assertThat(Span.millis(Duration.ofNanos(1_999_999))).isEqualTo(1);
  }

  @Test
  void threeLongestSpansAndAClockDoNotOverflow() {
    long forever = Span.nanos(ChronoUnit.FOREVER.getDuration());
    assertThat(forever).isGreaterThan(Span.nanos(Duration.ofDays(365 * 70)));
    assertThat(3 * forever + Span.nanos(Duration.ofDays(365 * 70))).isPositive();
    assertThat(Span.millis(ChronoUnit.FOREVER.getDuration())).isPositive();
  }

  @Test
  void theMostNegativeDurationStaysNegative() {
    assertThat(Span.nanos(Duration.ofSeconds(Long.MIN_VALUE))).isNegative();
  }
}
