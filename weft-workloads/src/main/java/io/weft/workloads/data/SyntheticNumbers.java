// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.data;

import java.util.Arrays;
import java.util.Objects;
import java.util.SplittableRandom;

/// Rows of normally distributed numbers, encoded by `Floats`. A planted network of one small hidden
/// layer, with added noise, gives the class. Equal seeds give equal bytes.
///
/// @param name for the report
/// @param unit the name of the rows, in the plural
/// @param features numbers in a row
/// @param classes the number of classes
/// @param trainCount rows to train on
/// @param testCount rows to test on
/// @param seed of network and rows
public record SyntheticNumbers(
    String name, String unit, int features, int classes, int trainCount, int testCount, long seed)
    implements DataSource {

  private static final int HIDDEN = 6;
  private static final double NOISE = 0.1;
  private static final int SAMPLE = 2_000;

  /// Throws `NullPointerException` without names.
  public SyntheticNumbers {
    Objects.requireNonNull(name, "name");
    Objects.requireNonNull(unit, "unit");
  }

  @Override
  public void check() {}

  @Override
  public Examples train(ReadProgress progress) {
    return draw(trainCount, seed * 2, progress);
  }

  @Override
  public Examples test(ReadProgress progress) {
    return draw(testCount, seed * 2 + 1, progress);
  }

  private Examples draw(int count, long stream, ReadProgress progress) {
    var planted = new Planted(features, classes, new SplittableRandom(seed));
    var rows = new RowBuilder(Floats.BYTES * features, classes, 1f);
    var random = new SplittableRandom(stream ^ 0x9e3779b97f4a7c15L);
    double[] numbers = new double[features];
    for (int i = 0; i < count; i++) {
      progress.at(i, count, unit);
      double[] scores = planted.scores(draw(numbers, random));
      int best = 0;
      for (int k = 0; k < classes; k++) {
        scores[k] += NOISE * random.nextGaussian();
        best = scores[k] > scores[best] ? k : best;
      }
      byte[] row = rows.next((byte) best);
      for (int f = 0; f < features; f++) {
        Floats.put(row, f, (float) numbers[f]);
      }
      rows.add();
    }
    return rows.build();
  }

  private static double[] draw(double[] numbers, SplittableRandom random) {
    for (int f = 0; f < numbers.length; f++) {
      numbers[f] = random.nextGaussian();
    }
    return numbers;
  }

  /// The planted network. Its scores have mean 0 and deviation 1, so that classes have like sizes.
  private static final class Planted {

    private final double[][] first;
    private final double[][] second;
    private final double[] mean;
    private final double[] deviation;

    Planted(int features, int classes, SplittableRandom random) {
      first = new double[HIDDEN][features];
      second = new double[classes][HIDDEN];
      mean = new double[classes];
      deviation = new double[classes];
      for (double[] unit : first) {
        draw(unit, random);
      }
      for (double[] unit : second) {
        draw(unit, random);
      }
      double[] sums = new double[classes];
      double[] squares = new double[classes];
      double[] numbers = new double[features];
      Arrays.fill(deviation, 1);
      for (int i = 0; i < SAMPLE; i++) {
        double[] scores = scores(draw(numbers, random));
        for (int k = 0; k < classes; k++) {
          sums[k] += scores[k];
          squares[k] += scores[k] * scores[k];
        }
      }
      for (int k = 0; k < classes; k++) {
        mean[k] = sums[k] / SAMPLE;
        deviation[k] = Math.sqrt(squares[k] / SAMPLE - mean[k] * mean[k]);
      }
    }

    double[] scores(double[] numbers) {
      double[] hidden = new double[HIDDEN];
      for (int h = 0; h < HIDDEN; h++) {
        hidden[h] = StrictMath.tanh(dot(first[h], numbers) / Math.sqrt(numbers.length));
      }
      double[] scores = new double[second.length];
      for (int k = 0; k < scores.length; k++) {
        scores[k] = (dot(second[k], hidden) - mean[k]) / deviation[k];
      }
      return scores;
    }

    private static double dot(double[] a, double[] b) {
      double sum = 0;
      for (int i = 0; i < a.length; i++) {
        sum += a[i] * b[i];
      }
      return sum;
    }
  }
}
