// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.cost;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.WeftConfig;
import io.weft.testkit.sim.Simulation;
import io.weft.testkit.sim.network.SimLink;
import java.time.Duration;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks in virtual time that an allreduce in a fixed order over hosts of several ranks takes
/// hardly longer than the unrestricted choice of the rule table.
@Timeout(120)
class FixedOrderTimeTest {

  /// A link like TCP over 25 Gbit/s.
  private static final SimLink LINK =
      SimLink.of(Duration.ofNanos(25_000), 25e9 / 8 * 0.6, Duration.ofNanos(5_000));

  private static double micros(int ranks, int hosts, int kib, String algorithm)
      throws InterruptedException {
    Simulation simulation =
        Simulation.of(ranks)
            .hosts(hosts)
            .between(LINK)
            .config(WeftConfig.builder().build())
            .traceLines(0);
    return AllreduceTime.of(simulation, (kib << 10) / Float.BYTES, algorithm).time().toNanos()
        / 1e3;
  }

  @ParameterizedTest(name = "{2} KiB, {0} ranks on {1} hosts")
  @CsvSource({
    "8, 2, 4",
    "8, 2, 256",
    "8, 2, 4096",
    "16, 4, 4",
    "16, 4, 256",
    "16, 4, 4096",
    "32, 8, 256",
    "32, 8, 4096",
    "7, 3, 2048",
    "12, 3, 2048",
    "20, 5, 1024"
  })
  void aFixedOrderCostsHardlyMoreThanAnyOrder(int ranks, int hosts, int kib)
      throws InterruptedException {
    double free = micros(ranks, hosts, kib, "");
    double fixed = micros(ranks, hosts, kib, "fixed-order");
    assertThat(fixed).as("us, where the table's choice takes %.1f", free).isLessThan(1.15 * free);
  }
}
