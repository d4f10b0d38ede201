// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.clicks;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.workloads.data.Examples;
import org.junit.jupiter.api.Test;

class SyntheticClicksTest {

  private static final SyntheticClicks CLICKS = new SyntheticClicks(24, 4_000, 3);

  @Test
  void theSameSeedGivesTheSameClicks() {
    assertThat(new SyntheticClicks(24, 4_000, 3).train()).isEqualTo(CLICKS.train());
    assertThat(new SyntheticClicks(24, 4_000, 4).train()).isNotEqualTo(CLICKS.train());
    assertThat(CLICKS.test()).isNotEqualTo(CLICKS.train());
  }

  @Test
  void categoriesFollowZipfsLaw() {
    Examples clicks = CLICKS.train();
    int[] seen = new int[Ids.VOCABULARY];
    for (int i = 0; i < clicks.count(); i++) {
      seen[Ids.get(clicks.values(), i * clicks.features(), 23)]++;
    }
    double ratio = seen[0] / (double) seen[1];
    assertThat(ratio).isBetween(1.9, 2.8); // 2 to the power of 1.2 is 2.3
    assertThat(seen[0]).isGreaterThan(10 * seen[9]);
  }

  @Test
  void clicksAreDrawnByThePlantedProbability() {
    Examples clicks = CLICKS.train();
    double[] probabilities = CLICKS.probabilities(clicks);
    double expected = 0;
    int clicked = 0;
    int among = 0;
    int likely = 0;
    for (int i = 0; i < probabilities.length; i++) {
      expected += probabilities[i];
      clicked += clicks.labels()[i];
      if (probabilities[i] > 0.9) {
        likely++;
        among += clicks.labels()[i];
      }
    }
    assertThat(clicked / expected).isBetween(0.9, 1.1);
    assertThat(clicked / (double) clicks.count()).isBetween(0.1, 0.5);
    assertThat(likely).isPositive();
    assertThat(among / (double) likely).isGreaterThan(0.85);
  }
}
