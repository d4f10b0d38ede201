// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import java.util.Arrays;
import java.util.OptionalDouble;

/// Counts of scores from which the area under the curve (AUC) is computed: the probability that a
/// random example of class 1 has a higher score than one of class 0. Scores are counted in 4,096
/// steps of [0, 1], so that ranks can add their counts. Two scores in one step are a tie, which
/// counts one half. Confined to one thread.
public final class Ranking {

  private static final int STEPS = 4096;

  private final double[] counts;

  /// Creates an empty ranking.
  public Ranking() {
    this(new double[2 * STEPS]);
  }

  /// Creates a ranking from the result of `counts()`, or from a sum of such results.
  public Ranking(double[] counts) {
    this.counts = counts.clone();
  }

  /// Counts one score. A score outside [0, 1] counts as the nearest bound.
  public void add(float score, int label) {
    int step = (int) Math.clamp((double) score * STEPS, 0, STEPS - 1);
    counts[label * STEPS + step]++;
  }

  /// Returns a copy of the counts, by class and step.
  public double[] counts() {
    return counts.clone();
  }

  /// Returns the area under the curve; empty if one of the classes has no example.
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
