// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.clicks;

import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.ReadProgress;
import io.weft.workloads.data.RowBuilder;
import java.util.Arrays;
import java.util.SplittableRandom;

/// Synthetic clicks. Each column's category is drawn by Zipf's law. A planted model of weights and
/// of pairs of columns gives the probability of a click, by which the click is drawn. As in real
/// data, most columns do not affect the click. Equal seeds give equal bytes.
///
/// @param columns at least 20
/// @param trainRows clicks to train on
/// @param seed of model and clicks
public record SyntheticClicks(int columns, int trainRows, long seed) implements DataSource {

  private static final int TEST = 8_000;
  private static final double EXPONENT = 1.2;
  private static final int MEANINGFUL = 20;
  private static final double BIAS = -1.2;
  private static final double STEEPNESS = 0.6;

  /// Returns clicks with hundreds of columns [FUSERECV: wide and deep models].
  public static SyntheticClicks standard(long seed) {
    return new SyntheticClicks(200, 24_000, seed);
  }

  /// Throws `IllegalArgumentException` if there are fewer columns than the planted model reads.
  public SyntheticClicks {
    if (columns < MEANINGFUL) {
      throw new IllegalArgumentException(columns + " columns; at least " + MEANINGFUL);
    }
  }

  @Override
  public String name() {
    return "synthetic clicks";
  }

  @Override
  public void check() {}

  @Override
  public Examples train(ReadProgress progress) {
    return draw(trainRows, 2 * seed, progress);
  }

  @Override
  public Examples test(ReadProgress progress) {
    return draw(TEST, 2 * seed + 1, progress);
  }

  /// Returns the planted model's probability of a click, for each row. Its ranking is optimal.
  double[] probabilities(Examples examples) {
    double[][] weights = planted();
    double[] probabilities = new double[examples.count()];
    for (int i = 0; i < probabilities.length; i++) {
      probabilities[i] = probability(examples.values(), i * examples.features(), weights);
    }
    return probabilities;
  }

  private Examples draw(int rows, long stream, ReadProgress progress) {
    double[][] weights = planted();
    double[] frequencies = frequencies();
    var random = new SplittableRandom(stream ^ 0x9e3779b97f4a7c15L);
    var built = new RowBuilder(Ids.BYTES * columns, 2, 1f);
    byte[] drawn = new byte[Ids.BYTES * columns];
    for (int i = 0; i < rows; i++) {
      progress.at(i, rows, "clicks");
      for (int c = 0; c < columns; c++) {
        Ids.put(drawn, c, category(frequencies, random.nextDouble()));
      }
      boolean click = random.nextDouble() < probability(drawn, 0, weights);
      byte[] row = built.next((byte) (click ? 1 : 0));
      System.arraycopy(drawn, 0, row, 0, row.length);
      built.add();
    }
    return built.build();
  }

  private double[][] planted() {
    var random = new SplittableRandom(seed);
    double[][] weights = new double[MEANINGFUL][Ids.VOCABULARY];
    for (double[] column : weights) {
      for (int id = 0; id < column.length; id++) {
        column[id] = random.nextGaussian();
      }
    }
    return weights;
  }

  private static double probability(byte[] values, int first, double[][] weights) {
    double score = 0;
    double before = 0;
    for (int c = 0; c < MEANINGFUL; c++) {
      double weight = weights[c][Ids.get(values, first, c)];
      score += weight + before * weight;
      before = weight;
    }
    return 1 / (1 + Math.exp(-BIAS - STEEPNESS * score));
  }

  /// Returns the cumulative frequencies of the categories.
  private static double[] frequencies() {
    double[] sums = new double[Ids.VOCABULARY];
    double sum = 0;
    for (int id = 0; id < sums.length; id++) {
      sum += Math.pow(id + 1, -EXPONENT);
      sums[id] = sum;
    }
    for (int id = 0; id < sums.length; id++) {
      sums[id] /= sum;
    }
    return sums;
  }

  private static int category(double[] frequencies, double u) {
    int found = Arrays.binarySearch(frequencies, u);
    return Math.min(found < 0 ? -found - 1 : found + 1, Ids.VOCABULARY - 1);
  }
}
