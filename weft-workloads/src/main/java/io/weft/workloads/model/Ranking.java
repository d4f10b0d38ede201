// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import java.util.Arrays;
import java.util.OptionalDouble;

/// How well scores tell examples of class 1 from those of class 0: the area under the curve (AUC),
/// the probability that a random example of class 1 has the higher score. Counts scores in 4,096
/// steps of [0, 1], so that ranks can add up what they have counted; two in the same step are a
/// tie, which counts one half. One thread.
public final class Ranking {

  private static final int STEPS = 4096;

  private final double[] counts;

  /// Nothing counted.
  public Ranking() {
    this(new double[2 * STEPS]);
  }

  /// What `counts()` gave, or a sum of such.
  public Ranking(double[] counts) {
    this.counts = counts.clone();
  }

  /// Counts one more; a score outside [0, 1] as the nearest in it.
  public void add(float score, int label) {
    int step = (int) Math.clamp((double) score * STEPS, 0, STEPS - 1);
    counts[label * STEPS + step]++;
  }

  /// By class and step.
  public double[] counts() {
    return counts.clone();
  }

  /// Empty where one of the classes has no example.
  public OptionalDouble auc() {
    double below = 0;
    double pairs = 0;
    for (int s = 0; s < STEPS; s++) {
      pairs += counts[STEPS + s] * (below + counts[s] / 2);
      below += counts[s];
    }
    double ones = Arrays.stream(counts, STEPS, 2 * STEPS).sum();
    return below == 0 || ones == 0
        ? OptionalDouble.empty()
        : OptionalDouble.of(pairs / (below * ones));
  }
}
