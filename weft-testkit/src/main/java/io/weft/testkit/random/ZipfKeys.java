// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.random;

import java.util.Arrays;
import java.util.SplittableRandom;

/// Row numbers, a few of them frequent: the frequency of the k-th most frequent row falls with a
/// power of k. The frequent rows are at random positions.
public final class ZipfKeys {

  private ZipfKeys() {}

  /// Draws `count` numbers from 0 to `rows` - 1.
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
