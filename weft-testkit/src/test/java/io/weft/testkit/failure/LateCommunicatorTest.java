// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.failure;

import static io.weft.collective.CollectiveOptions.named;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.weft.CommException;
import io.weft.Handle;
import io.weft.Weft;
import io.weft.cluster.ProcessSet;
import io.weft.collective.Communicator;
import io.weft.testkit.job.LocalJob;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// A communicator that is made after ranks were lost, as the first one of a rank that joins is when
/// others die meanwhile.
@Timeout(60)
class LateCommunicatorTest {

  @ParameterizedTest
  @ValueSource(strings = {"inproc", "tcp"})
  void ofSeveralLostRanksTheFirstOneIsNamed(String transport) {
    try (LocalJob job = LocalJob.over(transport, 4)) {
      Weft weft = job.ranks().getFirst();
      Communicator withTwo = weft.communicator(new ProcessSet(List.of(0, 2)));
      Handle<Void> ofAll = weft.communicator().barrier(named("all"));
      Handle<Void> ofTwo = withTwo.barrier(named("two"));
      die(job, 3);
      assertThat(lostRank(ofAll)).isEqualTo(3);
      die(job, 2);
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

  /// Its lane dies; the others are told.
  private static void die(LocalJob job, int rank) {
    ProcessSet pair = new ProcessSet(List.of(1, rank));
    job.ranks()
        .get(rank)
        .communicator(pair)
        .barrier(named("end"))
        .whenDone(
            (nothing, failure) -> {
              throw new IllegalStateException("rehearsed defect");
            });
    job.ranks().get(1).communicator(pair).barrier(named("end")).whenDone((nothing, failure) -> {});
  }
}
