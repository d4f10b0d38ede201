// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.digits;

import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.ReadProgress;
import java.util.SplittableRandom;

/// Grey images of 28 by 28 pixels of the digits 0 to 9: a glyph of a random font under a random
/// affine map, with a random pen, blur, noise and specks. Equal seeds give equal bytes; image i
/// depends only on the seed and i.
///
/// @param seed of all random values
/// @param trainCount images to train on
/// @param testCount images to test on
public record SyntheticDigits(long seed, int trainCount, int testCount) implements DataSource {

  private static final int PIXELS = Raster.SIDE * Raster.SIDE;
  private static final long TRAIN_STREAM = 0x74_7261_696eL;
  private static final long TEST_STREAM = 0x7465_7374L;

  /// Returns 12,000 images to train on and 2,000 to test on.
  public static SyntheticDigits standard(long seed) {
    return new SyntheticDigits(seed, 12_000, 2_000);
  }

  @Override
  public String name() {
    return "synthetic digits";
  }

  @Override
  public void check() {}

  @Override
  public Examples train(ReadProgress progress) {
    return draw(trainCount, TRAIN_STREAM, progress);
  }

  @Override
  public Examples test(ReadProgress progress) {
    return draw(testCount, TEST_STREAM, progress);
  }

  private Examples draw(int count, long stream, ReadProgress progress) {
    var fonts = new Fonts();
    byte[] pixels = new byte[count * PIXELS];
    byte[] labels = new byte[count];
    for (int i = 0; i < count; i++) {
      progress.at(i, count, "digits");
      var random = new SplittableRandom((seed * 31 + stream) * 0x9e3779b97f4a7c15L + i);
      labels[i] = (byte) random.nextInt(10);
      draw(fonts.glyph(random.nextInt(fonts.count()), labels[i]), random, pixels, i * PIXELS);
    }
    return new Examples(PIXELS, 10, 1f / 255, pixels, labels);
  }

  private static void draw(Glyph glyph, SplittableRandom random, byte[] pixels, int at) {
    double wobble = between(random, 0, 3);
    var raster = new Raster(between(random, 1.2, 3.6), between(random, 1, 2), affine(random));
    glyph.draw(coordinate -> coordinate + between(random, -wobble, wobble), raster);
    float[] ink = raster.ink();
    double brightness = between(random, 0.6, 1);
    double noise = between(random, 0, 0.15);
    for (int speck = random.nextInt(6); speck > 0; speck--) {
      ink[random.nextInt(PIXELS)] = (float) between(random, 0.3, 1);
    }
    for (int p = 0; p < PIXELS; p++) {
      double value = ink[p] * brightness + noise * random.nextGaussian();
      pixels[at + p] = (byte) StrictMath.round(StrictMath.clamp(value, 0, 1) * 255);
    }
  }

  /// Returns a random map from the glyph's box to pixels; undistorted, a glyph is 20 pixels high.
  private static Raster.Affine affine(SplittableRandom random) {
    double angle = between(random, -0.3, 0.3);
    double shear = between(random, -0.25, 0.25);
    double scaleX = 0.25 * between(random, 0.65, 1.15);
    double scaleY = 0.25 * between(random, 0.75, 1.15);
    double cos = StrictMath.cos(angle);
    double sin = StrictMath.sin(angle);
    double xx = cos * scaleX;
    double xy = (cos * shear - sin) * scaleY;
    double yx = sin * scaleX;
    double yy = (sin * shear + cos) * scaleY;
    double x0 = Raster.SIDE / 2.0 + between(random, -2.5, 2.5) - 50 * (xx + xy);
    double y0 = Raster.SIDE / 2.0 + between(random, -2.5, 2.5) - 50 * (yx + yy);
    return new Raster.Affine(xx, xy, x0, yx, yy, y0);
  }

  private static double between(SplittableRandom random, double low, double high) {
    return low + (high - low) * random.nextDouble();
  }
}
