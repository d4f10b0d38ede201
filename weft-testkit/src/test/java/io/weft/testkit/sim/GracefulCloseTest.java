// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.testkit.sim.SimReport.RankResult;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class GracefulCloseTest {

  /// Returns how long this rank takes to leave the job after its failure.
  private static Duration gracefulClose(SimRank self) throws InterruptedException {
    Duration failed = Duration.ZERO;
    try (Weft weft = self.join()) {
      while (failed.isZero()) {
        try {
          var unused =
              weft.communicator().barrier(named("meet").within(Duration.ofSeconds(60))).await();
        } catch (CommException failure) {
          failed = self.now();
        }
      }
    }
    return self.now().minus(failed);
  }

  /// When rank 2 is given up, rank 3 has been silent for 3 s of the permitted 5 s.
  @Test
  void closeDoesNotWaitForSilentRanks() throws InterruptedException {
    SimReport<Duration> report =
        Simulation.of(4)
            .hosts(4)
            .fault(new SimFault.HostCrash(Duration.ofMillis(50), 2))
            .fault(new SimFault.HostCrash(Duration.ofSeconds(2), 3))
            .runRanks(GracefulCloseTest::gracefulClose);
    assertThat(report.virtual()).isGreaterThan(Duration.ofSeconds(5));
    for (RankResult<Duration> outcome : report.outcomes().subList(0, 2)) {
      assertThat(outcome).isInstanceOf(RankResult.Returned.class);
      assertThat(((RankResult.Returned<Duration>) outcome).value())
          .isLessThan(Duration.ofMillis(500));
    }
  }
}
