// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.qa.campaign.RunCheck.Expectation;
import io.weft.testkit.sim.FaultScript;
import io.weft.testkit.sim.FaultScript.SimFaultKind;
import io.weft.testkit.sim.SimReport;
import io.weft.testkit.sim.network.Tamper;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks some of the seeds that `tools/simulate faults` runs. `-Dweft.sim.seed` selects one seed.
@Timeout(300)
class FaultRunsTest {

  private static final System.Logger LOG = System.getLogger(FaultRunsTest.class.getName());
  private static final boolean LONG = Boolean.getBoolean("weft.test.long");
  private static final int MIXED = LONG ? 120 : 40;
  private static final int EACH_KIND = LONG ? 20 : 7;
  private static final int SHRINKING = LONG ? 50 : 16;

  private static long[] seeds(int count) {
    Long only = Long.getLong("weft.sim.seed");
    return only == null ? LongStream.rangeClosed(1, count).toArray() : new long[] {only};
  }

  private static void runFirst(int count, List<SimFaultKind> kinds, int most)
      throws InterruptedException {
    for (long seed : seeds(count)) {
      run(seed, kinds, most);
    }
    LOG.log(System.Logger.Level.INFO, () -> kinds + ": seeds 1 to " + count);
  }

  private static void run(long seed, List<SimFaultKind> kinds, int most)
      throws InterruptedException {
    FaultScript script = FaultRun.script(seed, kinds, most);
    SimReport<Integer> report = FaultRun.run(seed, script, Tamper.NONE);
    assertThat(RunCheck.on(report, Expectation.FAILURES)).as(report.summary()).isEmpty();
  }

  private static void runShrinking(long seed) throws InterruptedException {
    SimReport<ShrinkRun.Survivor> report = ShrinkRun.run(seed, ShrinkRun.script(seed), Tamper.NONE);
    assertThat(ShrinkRun.verdict(report)).as(report.summary()).isEmpty();
  }

  /// Once, the good-byes that followed an abort overtook it.
  @ParameterizedTest
  @ValueSource(longs = {3603, 5441, 7845})
  void abortIsPassedOnBeforeTheGoodbye(long seed) throws InterruptedException {
    run(seed, List.of(SimFaultKind.values()), 3);
  }

  /// Once, a rank that had been given up while it was paused reached its deadline before it learned
  /// of that.
  @Test
  void aRankThatMayHaveBeenGivenUpBlamesNoRank() throws InterruptedException {
    run(7149, List.of(SimFaultKind.values()), 3);
  }

  @Test
  void aRankWhoseClockJumpsBlamesNoWaitingRank() throws InterruptedException {
    run(20268690L, List.of(SimFaultKind.values()), 3);
  }

  @Test
  void aGivenUpRankIsNotifiedEvenOverAFullConnection() throws InterruptedException {
    run(4573, List.of(SimFaultKind.values()), 3);
  }

  /// Once, a rank learned of the next epoch before it learned of the loss.
  @Test
  void aLossIsReportedBeforeTheNextEpoch() throws InterruptedException {
    runShrinking(264);
  }

  /// Most ranks had completed their work when other ranks died.
  @Test
  void tooFewRanksAreLeftAfterOthersHaveLeft() throws InterruptedException {
    runShrinking(401);
  }

  @Test
  void failuresUnderSeveralFaultsNameHarmedRanks() throws InterruptedException {
    runFirst(MIXED, List.of(SimFaultKind.values()), 3);
  }

  @ParameterizedTest
  @EnumSource
  void failuresUnderOneFaultNameHarmedRanks(SimFaultKind kind) throws InterruptedException {
    runFirst(EACH_KIND, List.of(kind), 1);
  }

  @Test
  void noRankFailsWithoutFaults() throws InterruptedException {
    for (long seed : seeds(20)) {
      SimReport<Integer> report = FaultRun.run(seed, FaultScript.NONE, Tamper.NONE);
      assertThat(RunCheck.on(report, Expectation.SUCCESS)).as(report.summary()).isEmpty();
    }
  }

  @Test
  void survivorsContinue() throws InterruptedException {
    int shrunk = 0;
    for (long seed : seeds(SHRINKING)) {
      SimReport<ShrinkRun.Survivor> report =
          ShrinkRun.run(seed, ShrinkRun.script(seed), Tamper.NONE);
      assertThat(ShrinkRun.verdict(report)).as(report.summary()).isEmpty();
      shrunk += ShrinkRun.shrunk(report) ? 1 : 0;
    }
    assertThat(shrunk).isGreaterThan(SHRINKING / 4);
  }
}
