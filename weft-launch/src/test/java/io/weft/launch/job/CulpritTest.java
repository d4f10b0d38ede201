// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.launch.job.Culprit.Fate;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CulpritTest {

  private static Fate ended(int rank, int code, int blamed) {
    return new Fate(rank, Optional.of(new ExitStatus(code, false)), false, blamed);
  }

  private static Fate running(int rank) {
    return new Fate(rank, Optional.empty(), false, Culprit.NOBODY);
  }

  private static Fate stopped(int rank) {
    return new Fate(rank, Optional.empty(), true, Culprit.NOBODY);
  }

  private static int of(Fate... fates) {
    return Culprit.of(List.of(fates)).rank();
  }

  @Test
  void killedRankPrecedesStoppedThenBlamedThenFirst() {
    assertThat(of(ended(0, 1, 2), ended(1, 1, 2), stopped(4), ended(3, 137, -1), running(2)))
        .isEqualTo(3);
    assertThat(of(ended(0, 1, 2), ended(1, 1, 2), stopped(4), running(2))).isEqualTo(4);
    assertThat(of(ended(0, 1, 2), ended(1, 1, 2), running(2))).isEqualTo(2);
    assertThat(of(ended(0, 1, -1), ended(1, 3, -1), running(2))).isZero();
  }

  @Test
  void mostVotesDecideAndSelfBlameDoesNotCount() {
    assertThat(of(ended(0, 1, 1), ended(1, 1, 3), ended(2, 1, 3), ended(3, 1, 0))).isEqualTo(3);
    assertThat(of(ended(1, 1, 1), ended(0, 1, -1))).isEqualTo(1);
    assertThat(of(ended(1, 1, 77), ended(0, 0, 1))).isEqualTo(1);
  }

  @Test
  void successfulRankThatTwoRanksBlameIsTheCulprit() {
    assertThat(of(ended(2, 0, -1), ended(0, 1, 2), ended(1, 1, 2))).isEqualTo(2);
  }

  @Test
  void successfulRankThatOneRankBlamesIsNotTheCulprit() {
    assertThat(of(ended(1, 0, -1), ended(0, 1, 1))).isZero();
  }

  @Test
  void blameIsReadFromMessagesOfWeft() {
    assertThat(Culprit.blamedIn("weft: rank 12 on node7(3f) is lost: no sign of life for 5.0 s"))
        .isEqualTo(12);
    assertThat(Culprit.blamedIn("rank 2 on b left the job while rank 0 on a waited for it"))
        .isEqualTo(2);
    assertThat(Culprit.blamedIn("rank 2 on b, this rank, was given up by rank 0 on a: x"))
        .isEqualTo(Culprit.NOBODY);
    assertThat(Culprit.blamedIn("rank 3 of 4 is lost: 1")).isEqualTo(Culprit.NOBODY);
  }

  @Test
  void blamedRankIsRememberedAfterItsLineIsDropped() {
    var lines = new LastLines();
    byte[] blame = "rank 1 on here is lost: gone".getBytes(java.nio.charset.StandardCharsets.UTF_8);
    lines.add(blame, blame.length);
    for (int i = 0; i < 100; i++) {
      lines.add(new byte[] {'x'}, 1);
    }
    assertThat(lines.lines()).hasSize(20).containsOnly("x");
    assertThat(lines.blamed()).isEqualTo(1);
  }
}
