// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PolledClockTest {

  private static final long MILLI = 1_000_000;

  private final PolledClock clock = new PolledClock();

  @Test
  void theClockFollowsTheRunnersClockWhileTheAgentIsPolled() {
    for (long now = 500; now <= 500 + 1000 * MILLI; now += 10 * MILLI) {
      assertThat(clock.update(now)).isZero();
    }
    assertThat(clock.nanos()).isEqualTo(1000 * MILLI);
    assertThat(clock.stoodStillSince(0)).isFalse();
    assertThat(clock.standstillNanos()).isZero();
  }

  @Test
  void aStandstillCountsForABoundedTimeAndIsRecorded() {
    clock.update(-5);
    assertThat(clock.update(-5 + 7_000 * MILLI)).isEqualTo(7_000 * MILLI);
    assertThat(clock.nanos()).isEqualTo(PolledClock.STANDSTILL_NANOS);
    assertThat(clock.standstillNanos()).isEqualTo(7_000 * MILLI);
    assertThat(clock.stoodStillSince(6_990 * MILLI)).isTrue();
    assertThat(clock.stoodStillSince(7_010 * MILLI)).isFalse();
  }

  @Test
  void pollsThatAreFarApartAddUp() {
    for (int cycle = 0; cycle <= 50; cycle++) {
      clock.update(cycle * 150L * MILLI);
    }
    assertThat(clock.nanos()).isEqualTo(50 * PolledClock.STANDSTILL_NANOS);
  }

  @Test
  void aBackwardJumpDoesNotAdvanceTheClock() {
    clock.update(10_000 * MILLI);
    assertThat(clock.update(3_000 * MILLI)).isZero();
    assertThat(clock.update(3_010 * MILLI)).isZero();
    assertThat(clock.nanos()).isEqualTo(10 * MILLI);
  }

  @Test
  void theFirstPollIsNotAStandstill() {
    assertThat(clock.update(Long.MAX_VALUE)).isZero();
    assertThat(clock.update(Long.MIN_VALUE + 4)).isZero();
    assertThat(clock.nanos()).isEqualTo(5);
  }
}
