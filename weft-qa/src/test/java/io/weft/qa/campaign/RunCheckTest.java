// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.campaign;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.comm.CommException;
import io.weft.testkit.sim.SimFault;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class RunCheckTest {

  private static final Duration NOW = Duration.ZERO;
  private static final Duration LONG = Duration.ofSeconds(1);

  private static HarmedRanks harm(SimFault... faults) {
    return new HarmedRanks(List.of(faults), FaultRun.RANKS, FaultRun.HOSTS);
  }

  private static String objection(HarmedRanks harm, CommException failure) {
    return RunCheck.objection(harm, 0, failure);
  }

  @Test
  void onlyACrashedRankMayBeNamed() {
    HarmedRanks harm = harm(new SimFault.Crash(NOW, 3));
    assertThat(objection(harm, new CommException.PeerLost("", 3, 7, null))).isEmpty();
    assertThat(objection(harm, new CommException.PeerLost("", 7, 3, null))).contains("7");
    assertThat(objection(harm, new CommException.Aborted("", 3, null))).isEmpty();
    assertThat(objection(harm, new CommException.Aborted("", -1, null))).contains("-1");
    assertThat(objection(harm, new CommException.Setup("", List.of(3, 5), null))).isEmpty();
    assertThat(objection(harm, new CommException.Setup("", null))).contains("[]");
    assertThat(objection(harm, new CommException.Mismatch("rank 3"))).isNotEmpty();
    assertThat(objection(harm, new CommException.Excluded("", 2))).isNotEmpty();
  }

  @Test
  void aRankWhoseClockJumpsMayAbortWithoutNamingARank() {
    HarmedRanks harm = harm(new SimFault.ClockJump(NOW, 8, LONG));
    assertThat(objection(harm, new CommException.Aborted("", -1, null))).isEmpty();
    assertThat(objection(harm, new CommException.Aborted("", 7, null))).contains("7");
  }

  @Test
  void allRanksOfACrashedHostMayBeNamed() {
    HarmedRanks harm = harm(new SimFault.HostCrash(NOW, 2));
    assertThat(List.of(6, 7, 8, 9, 10).stream().filter(harm::of)).containsExactly(7, 8, 9);
  }

  @Test
  void eitherSideOfAPartitionMayNameTheOtherSide() {
    HarmedRanks harm =
        harm(new SimFault.Partition(NOW, LONG, Set.of(4, 5), SimFault.Direction.BOTH, LONG));
    assertThat(objection(harm, new CommException.PeerLost("", 4, 9, null))).isEmpty();
    assertThat(objection(harm, new CommException.PeerLost("", 9, 4, null))).isEmpty();
    assertThat(objection(harm, new CommException.PeerLost("", 9, 8, null))).isNotEmpty();
    assertThat(objection(harm, new CommException.Aborted("", 9, null))).isNotEmpty();
  }

  @Test
  void aWrongResultIsNotACommunicationFailure() {
    HarmedRanks harm = harm(new SimFault.Crash(NOW, 3));
    assertThat(RunCheck.objection(harm, 0, new RandomWork.WrongResult("rank 3"))).isNotEmpty();
  }
}
