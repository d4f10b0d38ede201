// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.failure;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weft.Weft;
import io.weft.cluster.ProcessSet;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.testkit.job.LocalJob;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks a communicator that is created after ranks were lost, like the first communicator of a
/// rank that joins while others die.
@Timeout(60)
class LateCommunicatorTest {

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void theFirstOfSeveralLostRanksIsNamed(String transport) {
    BrittleProvider brittle = BrittleProvider.of(transport);
    try (LocalJob job = brittle.job(4)) {
      Weft weft = job.ranks().getFirst();
      Communicator withTwo = weft.communicator(new ProcessSet(List.of(0, 2)));
      Handle<Void> ofAll = weft.communicator().barrier(named("all"));
      Handle<Void> ofTwo = withTwo.barrier(named("two"));
      brittle.victim().set(3);
      assertThat(lostRank(ofAll)).isEqualTo(3);
      brittle.victim().set(2);
      assertThat(lostRank(ofTwo)).isEqualTo(2);

      Communicator late = weft.communicator(new ProcessSet(List.of(0, 1, 2, 3)));
      assertThat(lostRank(late.barrier(named("late")))).isEqualTo(3);
      Communicator withoutThree = weft.communicator(new ProcessSet(List.of(0, 1, 2)));
      assertThat(lostRank(withoutThree.barrier(named("late")))).isEqualTo(2);
    }
  }

  private static int lostRank(Handle<Void> handle) {
    return catchThrowableOfType(CommException.PeerLost.class, handle::await).rank();
  }
}
