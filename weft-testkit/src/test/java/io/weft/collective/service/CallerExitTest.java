// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.agent.AgentRunner;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class CallerExitTest {

  private final SlowClock runner = new SlowClock();

  @Test
  void whoWaitedLeavesLater() {
    new CallerExit(1600).leave(4, 4, 0, runner);
    assertThat(runner.now).isBetween(1600L, 2000L);
  }

  @ParameterizedTest
  @CsvSource({"1600, 3, 4", "1600, 4, 4100", "0, 9, 4"})
  void allOthersLeaveAtOnce(long nanos, int turns, long bytes) {
    new CallerExit(nanos).leave(turns, bytes, 0, runner);
    assertThat(runner.now).isZero();
  }

  @Test
  void afterALongWaitNobodyIsHeld() {
    runner.now = 50_000;
    new CallerExit(1600).leave(100, 4, 0, runner);
    assertThat(runner.now).isEqualTo(50_100);
  }

  /// Each look at it takes 100 ns.
  private static final class SlowClock implements AgentRunner {

    private long now;

    @Override
    public long nanos() {
      now += 100;
      return now;
    }

    @Override
    public void start() {}

    @Override
    public void commandQueued() {}

    @Override
    public boolean isInside() {
      return false;
    }

    @Override
    public boolean drive(BooleanSupplier done, long deadlineNanos) {
      return true;
    }

    @Override
    public void close() {}
  }
}
