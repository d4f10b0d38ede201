// SPDX-License-Identifier: Apache-2.0
package io.weft.spark.ml;

import org.tensorflow.RawTensor;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.types.TFloat32;

/// Batches of rows as tensors.
final class Batches {

  private Batches() {}

  /// Returns a tensor of these extents with a copy of the values. The caller owns it.
  static TFloat32 tensor(float[] values, long... extents) {
    TFloat32 tensor = TFloat32.tensorOf(Shape.of(extents));
    RawTensor raw = tensor.asRawTensor();
    raw.data().asFloats().write(values);
    return tensor;
  }
}
