// SPDX-License-Identifier: Apache-2.0
package io.weft.agent;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/// On a clock that the test sets; a yield lasts as long as the test says.
final class IdleStateTest {

  private static final long MILLI = 1_000_000;

  private final Clock clock = new Clock();
  private final IdleState idle = new IdleState(new IdleStrategy(3, 0, 10 * MILLI, 300_000), clock);

  /// Reads come in pairs where a turn yields: before it and after it.
  private static final class Clock implements Ticker {

    private long now;
    private long step;

    @Override
    public long nanos() {
      now += step;
      return now;
    }
  }

  private int turnsUntilOver() {
    int turns = 0;
    while (!idle.isOver()) {
      turns++;
      assertThat(turns).isLessThan(1000);
    }
    return turns;
  }

  @Test
  void spinsAndThenYieldsForAsLongAsThePolicySays() {
    clock.step = 100_000;
    // A turn of yielding reads the clock twice, so it lasts 0.2 ms; the last look is the 51st.
    assertThat(turnsUntilOver()).isEqualTo(3 + 50);
    assertThat(idle.isOver()).as("and stays so").isTrue();
    idle.renew();
    assertThat(turnsUntilOver()).isEqualTo(3 + 50);
  }

  @Test
  void spinsForAsLongAsThePolicySaysBeforeItYields() {
    IdleState spinning = new IdleState(new IdleStrategy(0, 5 * MILLI, 0, 300_000), clock);
    clock.step = MILLI;
    for (int turn = 0; turn < 5; turn++) {
      assertThat(spinning.isOver()).as("turn %d", turn).isFalse();
    }
    assertThat(spinning.isOver()).isTrue();
    spinning.renew();
    assertThat(spinning.isOver()).as("anew").isFalse();
  }

  @Test
  void parksAtOnceForAWhileAfterAYieldThatCameBackLate() {
    yieldLate();
    clock.now += MILLI / 2;
    assertThat(turnsUntilOver()).as("within the while: no yield").isEqualTo(3);
  }

  @Test
  void whoseYieldsMayTakeLongerGoesOnWithThem() {
    IdleState among = new IdleState(new IdleStrategy(0, 0, 10 * MILLI, 2 * MILLI), clock);
    clock.step = MILLI;
    for (int turn = 0; turn < 5; turn++) {
      assertThat(among.isOver()).as("yield %d, which took a millisecond", turn).isFalse();
    }
    assertThat(among.isOver()).as("ten milliseconds are over").isTrue();
    clock.step = 3 * MILLI;
    among.renew();
    assertThat(among.isOver()).as("a yield of three").isFalse();
    clock.step = 0;
    among.renew();
    assertThat(among.isOver()).as("was a late one").isTrue();
  }

  @Test
  void theWhileDoublesWithEachLateYieldUpToALimit() {
    for (long crowd = 2; crowd <= 1024; crowd *= 2) {
      yieldLate();
      clock.now += Math.min(crowd, 256) * MILLI - 1;
      assertThat(turnsUntilOver()).as("%d ms are not over", crowd).isEqualTo(3);
      clock.now++;
    }
  }

  @Test
  void aYieldInTimeForgetsTheCrowd() {
    for (int i = 0; i < 5; i++) {
      yieldLate();
      clock.now += 256 * MILLI;
    }
    clock.step = 100_000;
    idle.renew();
    assertThat(turnsUntilOver()).isEqualTo(3 + 50);
    yieldLate();
    clock.now += 2 * MILLI;
    clock.step = 100_000;
    assertThat(turnsUntilOver()).as("the shortest while again").isEqualTo(3 + 50);
  }

  /// Spins, yields once, and comes back late. Then time stands still.
  private void yieldLate() {
    clock.step = MILLI;
    idle.renew();
    for (int turn = 0; turn < 3 + 1; turn++) {
      assertThat(idle.isOver()).isFalse();
    }
    clock.step = 0;
    idle.renew();
  }
}
