// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.model;

import io.weft.workloads.data.DataSource;
import io.weft.workloads.data.Examples;
import io.weft.workloads.data.ReadProgress;
import java.util.Random;

/// Random images with random labels, for measurements of speed. Equal seeds give equal bytes.
///
/// @param features bytes of an image
/// @param seed of all images and labels
record RandomPixels(int features, long seed) implements DataSource {

  private static final int TRAIN = 96;
  private static final int TEST = 24;
  private static final int CLASSES = 100;

  @Override
  public String name() {
    return "random pixels";
  }

  @Override
  public void check() {}

  @Override
  public Examples train(ReadProgress progress) {
    return draw(TRAIN, new Random(2 * seed), progress);
  }

  @Override
  public Examples test(ReadProgress progress) {
    return draw(TEST, new Random(2 * seed + 1), progress);
  }

  private Examples draw(int count, Random random, ReadProgress progress) {
    byte[] values = new byte[Math.multiplyExact(count, features)];
    random.nextBytes(values);
    byte[] labels = new byte[count];
    for (int i = 0; i < count; i++) {
      progress.at(i, count, "pictures");
      labels[i] = (byte) random.nextInt(CLASSES);
    }
    return new Examples(features, CLASSES, 1f / 255, values, labels);
  }
}
