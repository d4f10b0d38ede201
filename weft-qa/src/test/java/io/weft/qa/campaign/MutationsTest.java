// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.qa.campaign.Mutations.Doubled;
import io.weft.qa.campaign.Mutations.DoubledWrite;
import io.weft.qa.campaign.Mutations.Forgotten;
import io.weft.qa.campaign.Mutations.OldEpoch;
import io.weft.qa.campaign.Mutations.OldProcess;
import io.weft.qa.campaign.RunCheck.Expectation;
import io.weft.testkit.sim.FaultScript;
import io.weft.testkit.sim.SimFault;
import io.weft.testkit.sim.network.Tamper;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.LongFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/// Checks that each defect of the protocol is detected within the first 1,000 seeds, and that none
/// of the seeds up to that one fails without the defect.
@Timeout(300)
class MutationsTest {

  private static final System.Logger LOG = System.getLogger(MutationsTest.class.getName());
  private static final int SEEDS = 1000;

  private interface Job {
    List<String> wrong(long seed, Tamper tamper) throws InterruptedException;
  }

  private static void isCaught(LongFunction<Tamper> mutation, Job job) throws InterruptedException {
    for (long seed = 1; seed <= SEEDS; seed++) {
      Tamper tamper = mutation.apply(seed);
      List<String> wrong = job.wrong(seed, tamper);
      assertThat(job.wrong(seed, Tamper.NONE)).as("seed %d without the mutation", seed).isEmpty();
      if (!wrong.isEmpty()) {
        long caught = seed;
        LOG.log(
            System.Logger.Level.INFO,
            () -> tamper + " is caught by seed " + caught + ": " + wrong.getFirst());
        return;
      }
    }
    throw new AssertionError(mutation.apply(1) + " is not caught by " + SEEDS + " seeds");
  }

  private static List<String> undisturbed(long seed, Tamper tamper) throws InterruptedException {
    return RunCheck.on(FaultRun.run(seed, FaultScript.NONE, tamper), Expectation.SUCCESS);
  }

  private static int rank(long seed) {
    return new SplittableRandom(seed).nextInt(FaultRun.RANKS);
  }

  @Test
  void anOmittedGrantIsDetected() throws InterruptedException {
    isCaught(seed -> new Forgotten(rank(seed), Mutations.GRANT, 1), MutationsTest::undisturbed);
  }

  @Test
  void twoOmittedCreditsOfOneExchangeAreDetected() throws InterruptedException {
    isCaught(seed -> new Forgotten(rank(seed), Mutations.CREDIT, 2), MutationsTest::undisturbed);
  }

  /// Half of the window remains, and each further credit returns it.
  @Test
  void aSingleOmittedCreditDoesNoHarm() throws InterruptedException {
    int forgotten = 0;
    for (long seed = 1; seed <= 40; seed++) {
      Forgotten mutation = new Forgotten(rank(seed), Mutations.CREDIT, 1);
      assertThat(undisturbed(seed, mutation)).as("seed %d", seed).isEmpty();
      forgotten += mutation.forgotten();
    }
    assertThat(forgotten).isPositive();
  }

  @Test
  void aSegmentThatIsSentTwiceInMessagesIsDetected() throws InterruptedException {
    isCaught(seed -> new Doubled(rank(seed)), MutationsTest::undisturbed);
  }

  @Test
  void aSegmentThatIsWrittenTwiceIsDetected() throws InterruptedException {
    isCaught(seed -> new DoubledWrite(rank(seed)), MutationsTest::undisturbed);
  }

  @Test
  void anAcceptedFrameOfAnOldEpochIsDetected() throws InterruptedException {
    isCaught(
        seed -> new OldEpoch(),
        (seed, tamper) -> ShrinkRun.verdict(ShrinkRun.run(seed, ShrinkRun.script(seed), tamper)));
  }

  /// The last rank is started a second time with the state of its start while its first process
  /// works. Without the defect, the second process is refused and disturbs no rank.
  @Test
  void anAcceptedOldProcessIsDetected() throws InterruptedException {
    isCaught(
        seed -> new OldProcess(),
        (seed, tamper) -> {
          Duration at =
              ShrinkRun.JOINED.plusNanos(
                  new SplittableRandom(seed).nextLong(FaultRun.HORIZON.toNanos()));
          SimFault again =
              new SimFault.Restart(at, FaultRun.RANKS - 1, SimFault.Memory.FIRST_TOPOLOGY);
          return RunCheck.on(
              FaultRun.run(seed, FaultScript.NONE.and(again), tamper), Expectation.SUCCESS);
        });
  }
}
