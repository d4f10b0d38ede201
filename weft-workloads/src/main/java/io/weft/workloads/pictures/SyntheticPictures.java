// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.pictures;

import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.ReadProgress;
import java.util.Random;
import java.util.SplittableRandom;

/// Pictures of 32 by 32 pixels in three colours and ten classes. Each class has a pattern of smooth
/// patches of colour, which a picture shows shifted, with random contrast, and under noise. Equal
/// seeds give equal bytes; the patterns do not depend on the seed.
///
/// @param seed of all random values except the patterns
/// @param trainCount pictures to train on
/// @param testCount pictures to test on
public record SyntheticPictures(long seed, int trainCount, int testCount) implements DataSource {

  private static final int SIDE = CifarFiles.SIDE;
  private static final int GRID = 5;
  private static final int SHIFT = 3;
  private static final double NOISE = 40;
  private static final long TEST_STREAM = 0x7465_7374L;

  /// Returns 8,000 pictures to train on and 1,600 to test on.
  public static SyntheticPictures standard(long seed) {
    return new SyntheticPictures(seed, 8_000, 1_600);
  }

  @Override
  public String name() {
    return "synthetic pictures";
  }

  @Override
  public void check() {}

  @Override
  public Examples train(ReadProgress progress) {
    return draw(trainCount, 0, progress);
  }

  @Override
  public Examples test(ReadProgress progress) {
    return draw(testCount, TEST_STREAM, progress);
  }

  private Examples draw(int count, long stream, ReadProgress progress) {
    double[][] patterns = patterns();
    byte[] values = new byte[count * CifarFiles.PICTURE];
    byte[] labels = new byte[count];
    for (int i = 0; i < count; i++) {
      progress.at(i, count, "pictures");
      var random = new SplittableRandom((seed * 31 + stream) * 0x9e3779b97f4a7c15L + i);
      labels[i] = (byte) random.nextInt(CifarFiles.CLASSES);
      draw(patterns[labels[i]], random, values, i * CifarFiles.PICTURE);
    }
    return new Examples(CifarFiles.PICTURE, CifarFiles.CLASSES, 1f / 255, values, labels);
  }

  private static void draw(double[] pattern, SplittableRandom random, byte[] into, int at) {
    int right = random.nextInt(-SHIFT, SHIFT + 1);
    int down = random.nextInt(-SHIFT, SHIFT + 1);
    double contrast = 0.4 + 0.6 * random.nextDouble();
    for (int i = 0; i < CifarFiles.PICTURE; i++) {
      int plane = i / (SIDE * SIDE);
      int x = i % SIDE + right;
      int y = i / SIDE % SIDE + down;
      double value = 128 + contrast * patch(pattern, plane, x, y) + NOISE * random.nextGaussian();
      into[at + i] = (byte) Math.clamp(Math.round(value), 0, 255);
    }
  }

  /// Interpolates between the four corners of the grid around a pixel.
  private static double patch(double[] pattern, int plane, int x, int y) {
    double across = Math.clamp(x / (double) (SIDE - 1), 0, 1) * (GRID - 1.0001);
    double along = Math.clamp(y / (double) (SIDE - 1), 0, 1) * (GRID - 1.0001);
    int left = (int) across;
    int top = (int) along;
    double h = across - left;
    double v = along - top;
    int corner = (plane * GRID + top) * GRID + left;
    double above = pattern[corner] * (1 - h) + pattern[corner + 1] * h;
    double below = pattern[corner + GRID] * (1 - h) + pattern[corner + GRID + 1] * h;
    return above * (1 - v) + below * v;
  }

  private static double[][] patterns() {
    var random = new Random(10);
    double[][] all = new double[CifarFiles.CLASSES][3 * GRID * GRID];
    for (double[] pattern : all) {
      for (int i = 0; i < pattern.length; i++) {
        pattern[i] = random.nextDouble(-110, 110);
      }
    }
    return all;
  }
}
