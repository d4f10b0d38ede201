// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.census;

import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.ReadProgress;
import io.weft.workloads.data.RowBuilder;
import java.util.SplittableRandom;

/// Synthetic people with the 123 features of the Adult set. Each attribute is drawn with falling
/// frequency. A planted model of weights and pairs of attributes, with added noise, gives the
/// label. The best possible accuracy is about 0.92. Equal seeds give equal bytes.
///
/// @param seed of model and people
public record SyntheticCensus(long seed) implements DataSource {

  private static final int TRAIN = 16_000;
  private static final int TEST = 4_000;
  private static final double NOISE = 0.25;
  private static final int SAMPLE = 2_000;

  @Override
  public String name() {
    return "synthetic census";
  }

  @Override
  public void check() {}

  @Override
  public Examples train(ReadProgress progress) {
    return draw(TRAIN, seed * 2, progress);
  }

  @Override
  public Examples test(ReadProgress progress) {
    return draw(TEST, seed * 2 + 1, progress);
  }

  private Examples draw(int count, long stream, ReadProgress progress) {
    double[] weights = new double[Encoding.FEATURES];
    var planted = new SplittableRandom(seed);
    for (int f = 0; f < weights.length; f++) {
      weights[f] = planted.nextGaussian();
    }
    Spread spread = spread(weights, planted);
    var rows = new RowBuilder(Encoding.FEATURES, 2, 1f);
    var random = new SplittableRandom(stream ^ 0x9e3779b97f4a7c15L);
    for (int i = 0; i < count; i++) {
      progress.at(i, count, "people");
      int[] codes = person(random);
      double blurred = score(codes, weights) + NOISE * spread.deviation * random.nextGaussian();
      byte[] row = rows.next((byte) (blurred > spread.mean ? 1 : 0));
      int first = 0;
      for (int a = 0; a < codes.length; a++) {
        row[first + codes[a]] = 1;
        first += Encoding.ATTRIBUTES.get(a).width();
      }
      rows.add();
    }
    return rows.build();
  }

  /// The mean and standard deviation of the planted score.
  private record Spread(double mean, double deviation) {}

  private static Spread spread(double[] weights, SplittableRandom random) {
    double sum = 0;
    double squares = 0;
    for (int i = 0; i < SAMPLE; i++) {
      double score = score(person(random), weights);
      sum += score;
      squares += score * score;
    }
    double mean = sum / SAMPLE;
    return new Spread(mean, Math.sqrt(squares / SAMPLE - mean * mean));
  }

  private static int[] person(SplittableRandom random) {
    int[] codes = new int[Encoding.ATTRIBUTES.size()];
    for (int a = 0; a < codes.length; a++) {
      codes[a] = falling(random, Encoding.ATTRIBUTES.get(a).width());
    }
    return codes;
  }

  /// Returns a random code below `width`; small codes are more frequent.
  private static int falling(SplittableRandom random, int width) {
    double u = random.nextDouble();
    return (int) (u * u * width);
  }

  private static double score(int[] codes, double[] weights) {
    double score = 0;
    double before = 0;
    int first = 0;
    for (int a = 0; a < codes.length; a++) {
      double weight = weights[first + codes[a]];
      score += weight + 0.5 * before * weight;
      before = weight;
      first += Encoding.ATTRIBUTES.get(a).width();
    }
    return score;
  }
}
