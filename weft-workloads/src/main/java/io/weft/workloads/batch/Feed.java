// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.batch;

import io.weft.workloads.data.Examples;
import org.tensorflow.RawTensor;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.ndarray.buffer.ByteDataBuffer;
import org.tensorflow.ndarray.buffer.IntDataBuffer;
import org.tensorflow.types.TInt32;
import org.tensorflow.types.TUint8;

/// The tensors that carry a batch into a session. They may be filled again when the run that they
/// were fed to has ended. Confined to one thread. Owns both tensors.
public final class Feed implements AutoCloseable {

  private final Examples examples;
  private final TUint8 features;
  private final TInt32 labels;
  private final ByteDataBuffer featureBytes;
  private final IntDataBuffer labelNumbers;
  private final int size;

  /// Creates a feed for batches of `size` of these examples.
  public Feed(Examples examples, int size) {
    this.examples = examples;
    this.size = size;
    this.features = TUint8.tensorOf(Shape.of(size, examples.features()));
    this.labels = TInt32.tensorOf(Shape.of(size));
    RawTensor rawFeatures = features.asRawTensor();
    RawTensor rawLabels = labels.asRawTensor();
    this.featureBytes = rawFeatures.data();
    this.labelNumbers = rawLabels.data().asInts();
  }

  /// Copies the examples at `order[from]` and at the `size` - 1 positions after it.
  public void fill(int[] order, int from) {
    int width = examples.features();
    for (int i = 0; i < size; i++) {
      int row = order[from + i];
      featureBytes.offset((long) i * width).write(examples.values(), row * width, width);
      labelNumbers.setInt(examples.labels()[row], i);
    }
  }

  /// Copies `size` examples, starting at `first`.
  public void fill(int first) {
    int width = examples.features();
    featureBytes.write(examples.values(), first * width, size * width);
    for (int i = 0; i < size; i++) {
      labelNumbers.setInt(examples.labels()[first + i], i);
    }
  }

  /// Returns the features, of shape size by features; borrowed.
  public TUint8 features() {
    return features;
  }

  /// Returns the labels, of shape size; borrowed.
  public TInt32 labels() {
    return labels;
  }

  @Override
  public void close() {
    features.close();
    labels.close();
  }
}
