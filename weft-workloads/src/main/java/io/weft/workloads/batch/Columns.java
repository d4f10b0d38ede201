// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.batch;

import java.util.Arrays;
import java.util.SplittableRandom;

/// Which example stands where in which global batch, the same for any number of ranks. Once and for
/// all, each example is dealt at random to one of B columns, B being the global batch. In each
/// epoch each column is shuffled by itself, and batch s is row s of all columns. So a rank that
/// owns columns needs their examples only, for the whole training, and the union over the ranks is
/// the batch that one rank alone would have had. Of columns that are one example longer than others
/// a different one sits out in each epoch.
///
/// @param examples in the training set
/// @param batch global batch, at most `examples`
/// @param seed of everything random
public record Columns(int examples, int batch, long seed) {

  /// Throws `IllegalArgumentException` for a batch that the examples do not fill.
  public Columns {
    if (batch < 1 || examples < batch) {
      throw new IllegalArgumentException(
          "a global batch of " + batch + " from " + examples + " examples");
    }
  }

  /// Full batches in an epoch.
  public int steps() {
    return examples / batch;
  }

  /// First column of a rank: `rank * batch / size`, so that slices differ by one at most.
  public int first(int rank, int size) {
    return (int) ((long) rank * batch / size);
  }

  /// How many columns a rank owns: its share of each batch.
  public int width(int rank, int size) {
    return first(rank + 1, size) - first(rank, size);
  }

  /// Examples in a column.
  public int depth(int column) {
    return examples / batch + (column < examples % batch ? 1 : 0);
  }

  /// The examples of a rank: its columns one after the other, top to bottom.
  public int[] rows(int rank, int size) {
    int[] dealt = shuffled(examples, new SplittableRandom(seed));
    int from = first(rank, size);
    int to = first(rank + 1, size);
    int count = 0;
    for (int c = from; c < to; c++) {
      count += depth(c);
    }
    int[] rows = new int[count];
    int at = 0;
    for (int c = from; c < to; c++) {
      for (int d = 0; d < depth(c); d++) {
        rows[at++] = dealt[d * batch + c];
      }
    }
    return rows;
  }

  /// Where the examples of each batch of an epoch are in `rows(rank, size)`: element `s * width +
  /// c` is column c of batch s.
  public int[] order(int epoch, int rank, int size) {
    int width = width(rank, size);
    int[] order = new int[Math.multiplyExact(steps(), width)];
    int base = 0;
    for (int c = 0; c < width; c++) {
      int column = first(rank, size) + c;
      var random = new SplittableRandom((seed * 31 + epoch) * 0x9e3779b97f4a7c15L + column);
      int[] depths = shuffled(depth(column), random);
      for (int s = 0; s < steps(); s++) {
        order[s * width + c] = base + depths[s];
      }
      base += depth(column);
    }
    return order;
  }

  private static int[] shuffled(int count, SplittableRandom random) {
    int[] all = new int[count];
    Arrays.setAll(all, i -> i);
    for (int i = count - 1; i > 0; i--) {
      int j = random.nextInt(i + 1);
      int held = all[i];
      all[i] = all[j];
      all[j] = held;
    }
    return all;
  }
}
