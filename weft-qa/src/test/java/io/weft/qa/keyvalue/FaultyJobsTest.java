// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.keyvalue;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.testkit.sim.SimFault;
import io.weft.testkit.sim.SimReport;
import io.weft.testkit.sim.SimReport.RankResult;
import java.util.List;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/// Checks parameter servers with mirrors under random faults, and that each mutation is detected.
@Timeout(300)
class FaultyJobsTest {

  private static final System.Logger LOG = System.getLogger(FaultyJobsTest.class.getName());
  private static final int SEEDS = 60;
  private static final int LONG_SEEDS = 10_000;
  private static final int MOST_SEEDS = 1_000;

  private static void check(long first, int runs) {
    LongFunction<List<String>> jobs = new FaultyJobs();
    for (long seed = first; seed < first + runs; seed++) {
      assertThat(jobs.apply(seed)).as("%s", FaultyJob.of(seed)).isEmpty();
    }
  }

  @Test
  void noPushIsLostOrCountsTwiceUnderFaults() {
    check(1, SEEDS);
  }

  @Tag("long")
  @Timeout(3600)
  @Test
  void noPushIsLostOrCountsTwiceUnderFaultsInALongSeries() {
    check(1, LONG_SEEDS);
  }

  @Test
  void aSeedDeterminesTheRun() throws InterruptedException {
    for (long seed : new long[] {3, 111}) {
      FaultyJob job = FaultyJob.of(seed);
      SimReport<Integer> once = FaultyJobs.play(job, 0);
      assertThat(FaultyJobs.play(job, 0).trace().hash())
          .as("%s", job)
          .isEqualTo(once.trace().hash());
    }
  }

  @Test
  void processesTakeThePlacesOfLostServers() throws InterruptedException {
    int joined = 0;
    for (long seed = 1; seed <= 8; seed++) {
      SimReport<Integer> report = FaultyJobs.play(FaultyJob.of(seed), 0);
      joined +=
          (int) report.restarts().stream().filter(RankResult.Returned.class::isInstance).count();
    }
    assertThat(joined).isGreaterThan(3);
  }

  @Test
  void theSeedsDrawAllKindsOfLosses() {
    List<Class<? extends SimFault>> kinds =
        List.of(
            SimFault.Crash.class,
            SimFault.HostCrash.class,
            SimFault.Pause.class,
            SimFault.Partition.class,
            SimFault.Delay.class,
            SimFault.Restart.class);
    for (Class<? extends SimFault> kind : kinds) {
      boolean drawn = false;
      for (long seed = 1; seed <= SEEDS; seed++) {
        drawn |= FaultyJob.of(seed).script().faults().stream().anyMatch(kind::isInstance);
      }
      assertThat(drawn).as("%s", kind).isTrue();
    }
  }

  @ParameterizedTest
  @EnumSource
  void aMutationIsDetected(Mutation mutation) {
    LongFunction<List<String>> jobs = MutantLoader.jobs(mutation);
    for (long seed = 1; seed <= MOST_SEEDS; seed++) {
      List<String> errors = jobs.apply(seed);
      if (!errors.isEmpty()) {
        String detected = mutation + " is detected by seed " + seed + ": " + errors.getFirst();
        LOG.log(System.Logger.Level.INFO, detected);
        return;
      }
    }
    throw new AssertionError(mutation + " is not detected by " + MOST_SEEDS + " seeds");
  }

  @Test
  void aMutationOfAChangedSourceIsRefused() {
    assertThatThrownBy(() -> Mutation.REUSED_NUMBER.apply("final class PushNumbers {}"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("reused-number", "change the mutation");
  }
}
