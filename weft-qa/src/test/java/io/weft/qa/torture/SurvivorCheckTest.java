// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class SurvivorCheckTest {

  private static final String LOST = "weft train: rank 2 on node7 is lost: its connection broke";
  private static final List<String> LAUNCHER = List.of("weft: the job failed: rank 2 on node7: …");

  private static String wrong(int code, String line, List<String> launcher) {
    return new SurvivorCheck(Set.of(2)).wrong(code, List.of("epoch 1/5", line), launcher);
  }

  @Test
  void aSurvivorThatNamesTheHarmedRankIsCorrect() {
    assertThat(wrong(1, LOST, List.of())).isEmpty();
    assertThat(wrong(1, "rank 0 on node1, this rank, was given up by rank 2 on node7", List.of()))
        .isEmpty();
  }

  @Test
  void anEndedSurvivorIsCorrectIfTheLauncherNamesTheHarmedRank() {
    assertThat(wrong(143, "", LAUNCHER)).isEmpty();
    assertThat(wrong(143, "", List.of())).contains("names no rank");
    assertThat(wrong(1, "", LAUNCHER)).contains("names no rank");
  }

  @Test
  void aSurvivorThatSucceedsOrCrashesOrBlamesAnotherIsWrong() {
    assertThat(wrong(0, LOST, LAUNCHER)).contains("ended with 0");
    assertThat(wrong(139, LOST, LAUNCHER)).contains("crashed");
    assertThat(wrong(1, "rank 3 on node7 is lost: …; rank 2 on node7 waited", LAUNCHER))
        .contains("rank 3 is lost");
  }
}
