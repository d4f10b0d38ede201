// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.keyvalue;

import io.weft.workloads.clicks.Ids;
import io.weft.workloads.data.Examples;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.ndarray.buffer.LongDataBuffer;
import org.tensorflow.types.TInt32;
import org.tensorflow.types.TInt64;

/// The tensors that carry a batch of categories into a session. They may be filled again when the
/// run that they were fed to has ended. Confined to one thread. Owns both tensors.
final class KeyFeed implements AutoCloseable {

  private final Examples examples;
  private final int size;
  private final int columns;
  private final TInt64 keys;
  private final TInt32 labels;
  private final LongDataBuffer keyNumbers;
  private final long[] batch;

  /// Creates a feed for batches of `size` of these examples.
  KeyFeed(Examples examples, int size) {
    this.examples = examples;
    this.size = size;
    this.columns = examples.features() / Ids.BYTES;
    this.keys = TInt64.tensorOf(Shape.of(size, columns));
    this.labels = TInt32.tensorOf(Shape.of(size));
    this.batch = new long[size * columns];
    this.keyNumbers = keys.asRawTensor().data().asLongs();
  }

  /// Copies the examples at `order[from]` and at the `size` - 1 positions after it.
  void fill(int[] order, int from) {
    for (int i = 0; i < size; i++) {
      int row = order[from + i];
      for (int c = 0; c < columns; c++) {
        batch[i * columns + c] = Ids.key(examples.values(), row * examples.features(), c);
      }
      labels.setInt(examples.labels()[row], i);
    }
    keyNumbers.write(batch);
  }

  /// Returns the keys, of shape size by columns; borrowed.
  TInt64 keys() {
    return keys;
  }

  /// Returns the labels, of shape size; borrowed.
  TInt32 labels() {
    return labels;
  }

  @Override
  public void close() {
    keys.close();
    labels.close();
  }
}
