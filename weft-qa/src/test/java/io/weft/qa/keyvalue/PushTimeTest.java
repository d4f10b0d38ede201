// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.keyvalue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.weft.kv.spec.Consistency;
import io.weft.qa.keyvalue.SimPushes.Pace;
import io.weft.testkit.sim.Simulation;
import java.time.Duration;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(300)
class PushTimeTest {

  private static final long SEEDS = 20;

  /// The bandwidth of `SimLink.ETHERNET` in bytes per second.
  private static final double LINK = 1.25e9;

  private static SimPushes pushes(int servers, int workers, int window) {
    return new SimPushes(
        servers,
        workers,
        4000,
        6,
        window,
        Consistency.asynchronous(),
        new Pace(Duration.ZERO, Duration.ofNanos(1000), Duration.ofNanos(2)));
  }

  private static PushTime.Measured time(SimPushes what) throws InterruptedException {
    return PushTime.of(Simulation.of(what.ranks()).hosts(what.ranks()).traceLines(0), what);
  }

  @Test
  void pullsRespectTheStalenessBoundAndSumsAreRightUnderAnyDelay() throws InterruptedException {
    long most = 0;
    for (long seed : LongStream.rangeClosed(1, SEEDS).toArray()) {
      PushTime.Measured measured = StalenessJobs.play(seed);
      assertThat(measured.staleness())
          .as("seed %d", seed)
          .isLessThanOrEqualTo(StalenessJobs.of(seed).consistency().staleness());
      most = Math.max(most, measured.staleness());
    }
    assertThat(most).as("clocks that workers were apart").isGreaterThan(1);
  }

  @Test
  void aSeedDeterminesTheRun() throws InterruptedException {
    assertThat(StalenessJobs.play(7).hash()).isEqualTo(StalenessJobs.play(7).hash());
    assertThat(StalenessJobs.play(7).hash()).isNotEqualTo(StalenessJobs.play(8).hash());
  }

  @Test
  void manyWorkersSaturateOneServerAndTwoServersCarryTwiceAsMuch() throws InterruptedException {
    SimPushes what = pushes(1, 24, 1);
    double one = time(pushes(1, 1, 1)).pushesPerSecond();
    double many = time(what).pushesPerSecond();
    assertThat(many).isGreaterThan(3 * one);
    assertThat(many * what.bytes()).isBetween(0.7 * LINK, LINK);
    assertThat(time(pushes(2, 24, 1)).pushesPerSecond()).isBetween(1.7 * many, 2.3 * many);
  }

  @Test
  void aServerThatIsSlowerThanItsLinkBoundsTheRate() throws InterruptedException {
    Duration serving = Duration.ofNanos(100_000);
    SimPushes what =
        new SimPushes(
            1,
            8,
            100,
            10,
            1,
            Consistency.asynchronous(),
            new Pace(Duration.ZERO, serving, Duration.ZERO));
    assertThat(time(what).pushesPerSecond()).isBetween(8_000.0, 11_000.0);
  }

  @Test
  void aWindowHidesTheRoundTrip() throws InterruptedException {
    assertThat(time(pushes(1, 1, 4)).pushesPerSecond())
        .isGreaterThan(1.5 * time(pushes(1, 1, 1)).pushesPerSecond());
  }

  @Test
  void pushesThatAFloatCannotCountAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(
            () ->
                new SimPushes(
                    1,
                    1000,
                    10,
                    20_000,
                    1,
                    Consistency.asynchronous(),
                    new Pace(Duration.ZERO, Duration.ZERO, Duration.ZERO)))
        .withMessageContaining("16777216");
  }
}
