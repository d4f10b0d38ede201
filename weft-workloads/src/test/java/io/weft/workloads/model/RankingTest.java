// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class RankingTest {

  @Test
  void theAreaIsTheShareOfPairsInOrder() {
    var random = new SplittableRandom(7);
    float[] scores = new float[500];
    int[] labels = new int[scores.length];
    var ranking = new Ranking();
    for (int i = 0; i < scores.length; i++) {
      labels[i] = random.nextInt(3) == 0 ? 1 : 0;
      scores[i] = (float) Math.clamp(0.4 + 0.2 * labels[i] + 0.2 * random.nextGaussian(), 0, 1);
      ranking.add(scores[i], labels[i]);
    }
    double inOrder = 0;
    double pairs = 0;
    for (int one = 0; one < scores.length; one++) {
      for (int zero = 0; zero < scores.length; zero++) {
        if (labels[one] == 1 && labels[zero] == 0) {
          pairs++;
          inOrder += scores[one] > scores[zero] ? 1 : scores[one] == scores[zero] ? 0.5 : 0;
        }
      }
    }
    assertThat(ranking.auc()).hasValueCloseTo(inOrder / pairs, within(1e-3));
  }

  @Test
  void countsOfRanksAddUp() {
    var all = new Ranking();
    var some = new Ranking();
    var others = new Ranking();
    for (int i = 0; i < 40; i++) {
      float score = (i * 7 % 40) / 40f;
      int label = i % 4 == 0 ? 1 : 0;
      all.add(score, label);
      (i % 3 == 0 ? some : others).add(score, label);
    }
    double[] sum = some.counts();
    for (int i = 0; i < sum.length; i++) {
      sum[i] += others.counts()[i];
    }
    assertThat(new Ranking(sum).auc()).isEqualTo(all.auc());
  }

  @Test
  void oneClassAloneHasNoArea() {
    var ranking = new Ranking();
    assertThat(ranking.auc()).isEmpty();
    ranking.add(1, 1);
    ranking.add(0.5f, 1);
    assertThat(ranking.auc()).isEmpty();
  }

  @Test
  void equalScoresGiveAnAreaOfOneHalf() {
    var ranking = new Ranking();
    for (int i = 0; i < 10; i++) {
      ranking.add(0.25f, i % 2);
    }
    assertThat(ranking.auc()).hasValue(0.5);
  }
}
