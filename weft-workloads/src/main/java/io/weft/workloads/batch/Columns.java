// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.batch;

import java.util.Arrays;
import java.util.SplittableRandom;

/// The assignment of examples to global batches, which does not depend on the number of ranks. Each
/// example is dealt once at random to one of B columns, B being the size of the global batch. In
/// each epoch each column is shuffled separately, and batch s is row s of all columns. A rank
/// therefore needs only the examples of its columns during the whole training, and the union over
/// the ranks is the batch that a single rank would have. A column that is one example longer than
/// others leaves out one random example in each epoch.
///
/// @param examples in the training set
/// @param batch size of the global batch, at most `examples`
/// @param seed of all random choices
public record Columns(int examples, int batch, long seed) {

  /// Throws `IllegalArgumentException` if there are fewer examples than the batch needs.
  public Columns {
    if (batch < 1 || examples < batch) {
      throw new IllegalArgumentException(
          "a global batch of " + batch + " from " + examples + " examples");
    }
  }

  /// Returns the number of full batches in an epoch.
  public int steps() {
    return examples / batch;
  }

  /// Returns the first column of a rank: `rank * batch / size`; widths differ by at most one.
  public int first(int rank, int size) {
    return (int) ((long) rank * batch / size);
  }

  /// Returns the number of columns that a rank owns: its share of each batch.
  public int width(int rank, int size) {
    return first(rank + 1, size) - first(rank, size);
  }

  /// Returns the number of examples in a column.
  public int depth(int column) {
    return examples / batch + (column < examples % batch ? 1 : 0);
  }

  /// Returns the column of each example.
  public int[] byExample() {
    int[] dealt = shuffled(examples, new SplittableRandom(seed));
    int[] columns = new int[examples];
    for (int i = 0; i < examples; i++) {
      columns[dealt[i]] = i % batch;
    }
    return columns;
  }

  /// Returns the examples of a rank: its columns in order, each from top to bottom.
  public int[] rows(int rank, int size) {
    return rowsOf(first(rank, size), first(rank + 1, size));
  }

  /// Returns the examples of the columns `from` to below `to` in order, each from top to bottom.
  int[] rowsOf(int from, int to) {
    int[] dealt = shuffled(examples, new SplittableRandom(seed));
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

  /// Returns the positions in `rows(rank, size)` of the examples of an epoch's batches. Column c of
  /// batch s is at element `s * width + c`.
  public int[] order(int epoch, int rank, int size) {
    return orderOf(epoch, first(rank, size), first(rank + 1, size));
  }

  /// Returns the positions in `rowsOf(from, to)` of the examples of an epoch's batches, as `order`.
  int[] orderOf(int epoch, int from, int to) {
    int width = to - from;
    int[] order = new int[Math.multiplyExact(steps(), width)];
    int base = 0;
    for (int c = 0; c < width; c++) {
      int column = from + c;
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
