// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Ranks that end first, of a failure that another rank has had.
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
  void rankThatWaitedIsNotNamedForTheOneWhoseDiskWasFull(String said) {
    int blamed = Culprit.blamedIn(said);
    assertThat(blamed).isEqualTo(1);
    Culprit.Fate full = failed(1, Culprit.NOBODY);
    assertThat(Culprit.of(List.of(failed(0, blamed), full))).isEqualTo(full);
  }

  /// Rank 7 was never in the job: whom the first names is no rank that has failed.
  @Test
  void rankThatBlamesNobodyGoesBeforeOneThatBlamesAnother() {
    Culprit.Fate full = failed(1, Culprit.NOBODY);
    assertThat(Culprit.of(List.of(failed(0, 7), full))).isEqualTo(full);
    assertThat(Culprit.of(List.of(failed(0, 7)))).isEqualTo(failed(0, 7));
  }
}
