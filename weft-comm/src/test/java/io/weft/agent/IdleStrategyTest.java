// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/// Checks idle strategies on a clock that the test sets; the test also sets the duration of a
/// yield.
final class IdleStrategyTest {

  private static final long MILLI = 1_000_000;

  private final Clock clock = new Clock();
  private final IdleStrategy idle = IdleStrategy.of(clock, 0, 10 * MILLI).spinning(3);

  /// A clock on which each read takes `step`; a call that yields reads it twice, before and after
  /// the yield.
  private static final class Clock implements Ticker {

    private long now;
    private long step;

    @Override
    public long nanos() {
      now += step;
      return now;
    }
  }

  private int cyclesUntilParking() {
    int idleCycles = 0;
    while (idle.idle()) {
      idleCycles++;
      assertThat(idleCycles).isLessThan(1000);
    }
    return idleCycles;
  }

  @Test
  void theStrategySpinsAndThenYieldsForItsConfiguredTime() {
    clock.step = 100_000;
    // A call that yields reads the clock twice, so it lasts 0.2 ms; the last check is the 51st.
    assertThat(cyclesUntilParking()).isEqualTo(3 + 50);
    assertThat(idle.idle()).as("and stays so").isFalse();
    idle.reset();
    assertThat(cyclesUntilParking()).isEqualTo(3 + 50);
  }

  @Test
  void theStrategySpinsForItsConfiguredTime() {
    IdleStrategy spinning = IdleStrategy.of(clock, 5 * MILLI, 0);
    clock.step = MILLI;
    for (int cycle = 0; cycle < 5; cycle++) {
      assertThat(spinning.idle()).as("turn %d", cycle).isTrue();
    }
    assertThat(spinning.idle()).isFalse();
    spinning.reset();
    assertThat(spinning.idle()).as("anew").isTrue();
  }

  @Test
  void aLateYieldSuspendsYieldingForAWhile() {
    yieldLate();
    clock.now += MILLI / 2;
    assertThat(cyclesUntilParking()).as("within the while: no yield").isEqualTo(3);
  }

  @Test
  void yieldsOfAMillisecondAreNotLate() {
    IdleStrategy yielding = IdleStrategy.of(clock, 0, 10 * MILLI);
    clock.step = MILLI;
    for (int cycle = 0; cycle < 5; cycle++) {
      assertThat(yielding.idle()).as("yield %d, which took a millisecond", cycle).isTrue();
    }
    assertThat(yielding.idle()).as("ten milliseconds are over").isFalse();
    clock.step = 3 * MILLI;
    yielding.reset();
    assertThat(yielding.idle()).as("a yield of three").isTrue();
    clock.step = 0;
    yielding.reset();
    assertThat(yielding.idle()).as("was a late one").isFalse();
  }

  @Test
  void theSuspensionDoublesWithEachLateYieldUpToALimit() {
    for (long crowd = 2; crowd <= 1024; crowd *= 2) {
      yieldLate();
      clock.now += Math.min(crowd, 256) * MILLI - 1;
      assertThat(cyclesUntilParking()).as("%d ms are not over", crowd).isEqualTo(3);
      clock.now++;
    }
  }

  @Test
  void aTimelyYieldResetsTheSuspension() {
    for (int i = 0; i < 5; i++) {
      yieldLate();
      clock.now += 256 * MILLI;
    }
    clock.step = 100_000;
    idle.reset();
    assertThat(cyclesUntilParking()).isEqualTo(3 + 50);
    yieldLate();
    clock.now += 2 * MILLI;
    clock.step = 100_000;
    assertThat(cyclesUntilParking()).as("the shortest while again").isEqualTo(3 + 50);
  }

  /// Spins, then yields once and returns late. Time stands still afterwards.
  private void yieldLate() {
    clock.step = 3 * MILLI;
    idle.reset();
    for (int cycle = 0; cycle < 3 + 1; cycle++) {
      assertThat(idle.idle()).isTrue();
    }
    clock.step = 0;
    idle.reset();
  }
}
