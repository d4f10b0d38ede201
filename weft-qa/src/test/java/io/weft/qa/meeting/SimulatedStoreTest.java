// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.meeting;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.weft.Weft;
import io.weft.cluster.Store;
import io.weft.testkit.sim.SimFault;
import io.weft.testkit.sim.SimRank;
import io.weft.testkit.sim.SimReport;
import io.weft.testkit.sim.SimReport.RankResult;
import io.weft.testkit.sim.Simulation;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks the store of a running job in virtual time.
@Timeout(60)
class SimulatedStoreTest {

  private static final int RANKS = 8;
  private static final Duration LIMIT = Duration.ofSeconds(10);

  /// Appends each rank to a list and waits until the list has `awaited` ranks. Returns the rank
  /// that registered first.
  private static int register(SimRank self, int awaited) throws InterruptedException {
    try (Weft weft = self.join()) {
      Store store = weft.store();
      self.compute(Duration.ofNanos(self.random().nextLong(20_000_000)));
      boolean first = store.putIfAbsent("first", ("" + weft.rank()).getBytes(UTF_8));
      if (first) {
        store.put("all", new byte[0]);
      }
      byte[] all = store.get("all", LIMIT);
      while (!store.compareAndSet("all", all, with(all, weft.rank()))) {
        self.compute(Duration.ofNanos(1 + self.random().nextLong(100_000)));
        all = store.get("all", LIMIT);
      }
      all = with(all, weft.rank());
      while (all.length < awaited) {
        Optional<byte[]> more = store.awaitChange("all", all, LIMIT);
        all = more.orElseThrow();
      }
      return Integer.parseInt(new String(store.get("first", LIMIT), UTF_8));
    }
  }

  private static byte[] with(byte[] all, int rank) {
    byte[] more = Arrays.copyOf(all, all.length + 1);
    more[all.length] = (byte) rank;
    return more;
  }

  @Test
  void ranksRegisterAndAgreeOnTheFirstOne() throws InterruptedException {
    for (long seed = 1; seed <= 10; seed++) {
      SimReport<Integer> report =
          Simulation.of(RANKS).hosts(3).seed(seed).runRanks(self -> register(self, RANKS));
      List<Integer> values = report.values();
      assertThat(values).as(report.summary()).hasSize(RANKS);
      assertThat(values.stream().distinct()).as(report.summary()).hasSize(1);
    }
  }

  @Test
  void theStoreServesTheSurvivorsOfRankZero() throws InterruptedException {
    SimReport<Integer> report =
        Simulation.of(RANKS)
            .hosts(RANKS)
            .fault(new SimFault.Crash(Duration.ofMillis(8), 0))
            .runRanks(
                self -> {
                  if (self.rank() != 0) {
                    return register(self, RANKS - 1);
                  }
                  try (Weft weft = self.join()) {
                    self.compute(LIMIT);
                    return weft.rank();
                  }
                });
    assertThat(report.outcomes().getFirst()).isInstanceOf(RankResult.Died.class);
    assertThat(report.outcomes().stream().skip(1))
        .as(report.summary())
        .allMatch(RankResult.Returned.class::isInstance);
  }
}
