// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks the culprit where a rank ends first because of another rank's failure.
class WitnessTest {

  private static Culprit.Fate failed(int rank, int blamed) {
    return new Culprit.Fate(rank, Optional.of(new ExitStatus(1, false)), false, blamed);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "weft: rank 1 on node7 has closed its DataParallel while this rank works on: its program",
        "rank 1 on node7 left the job while rank 0 on node6 waited for it in allreduce 'g'",
        "rank 1 on node7 has left the job; every receive from it fails",
        "rank 1 on node7 has left the job; its requests fail",
        "rank 0 on node6 waited in allreduce 'g' for 60.0 s, its deadline: rank 1 on node7 has not"
            + " submitted it; see its output",
        "rank 1 on node7 is lost: its connection broke",
      })
  void rankThatWaitedIsNotNamedForAnotherRanksFullDisk(String said) {
    int blamed = Culprit.blamedIn(said);
    assertThat(blamed).isEqualTo(1);
    Culprit.Fate full = failed(1, Culprit.NOBODY);
    assertThat(Culprit.of(List.of(failed(0, blamed), full))).isEqualTo(full);
  }

  /// Rank 7 was never in the job, so the first rank blames a rank that has not failed.
  @Test
  void rankThatBlamesNoRankPrecedesOneThatBlamesAnother() {
    Culprit.Fate full = failed(1, Culprit.NOBODY);
    assertThat(Culprit.of(List.of(failed(0, 7), full))).isEqualTo(full);
    assertThat(Culprit.of(List.of(failed(0, 7)))).isEqualTo(failed(0, 7));
  }
}
