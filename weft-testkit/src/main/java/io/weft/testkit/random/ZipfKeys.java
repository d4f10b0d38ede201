// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.random;

import java.util.Arrays;
import java.util.SplittableRandom;

/// Numbers of rows of which few come often: the k-th most frequent one has a share that falls with
/// a power of k. The frequent ones lie anywhere.
public final class ZipfKeys {

  private ZipfKeys() {}

  /// Draws numbers of 0 to, without it, `rows`.
  public static int[] draw(int rows, double exponent, int count, long seed) {
    double[] sums = new double[rows];
    double sum = 0;
    for (int rank = 0; rank < rows; rank++) {
      sum += Math.pow(rank + 1, -exponent);
      sums[rank] = sum;
    }
    int[] places = new int[rows];
    Arrays.setAll(places, i -> i);
    var random = new SplittableRandom(seed);
    for (int i = rows - 1; i > 0; i--) {
      int other = random.nextInt(i + 1);
      int place = places[i];
      places[i] = places[other];
      places[other] = place;
    }
    int[] drawn = new int[count];
    for (int i = 0; i < count; i++) {
      int found = Arrays.binarySearch(sums, random.nextDouble() * sum);
      drawn[i] = places[Math.min(rows - 1, found < 0 ? -found - 1 : found)];
    }
    return drawn;
  }
}
