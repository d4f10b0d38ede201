// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.CommException;
import io.weft.Weft;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class FarewellTest {

  /// How long leaving the job takes this rank once it has failed.
  private static Duration farewell(SimRank self) throws InterruptedException {
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

  @Test
  void ranksBehindBrokenNetworkAreNotWaitedFor() throws InterruptedException {
    Duration moment = Duration.ofMillis(50);
    SimReport<Duration> report =
        Simulation.of(4)
            .hosts(2)
            .fault(
                new Fault.Partition(
                    moment,
                    Duration.ofHours(1),
                    Set.of(0, 1),
                    Fault.Direction.BOTH,
                    Duration.ofHours(1)))
            .runRanks(FarewellTest::farewell);
    assertThat(report.virtual()).isGreaterThan(Duration.ofSeconds(5));
    assertThat(report.values())
        .allSatisfy(took -> assertThat(took).isLessThan(Duration.ofMillis(500)));
  }
}
