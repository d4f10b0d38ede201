// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.ffm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import io.weft.tensor.Shape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/// The shape of a node's last tensor, which rarely changes, in the formats of Weft and TensorFlow.
/// One thread at a time.
public final class Extents {

  private static final MemorySegment NONE = Arena.global().allocate(JAVA_LONG);

  private Shape shape = Shape.of();
  private MemorySegment dims = NONE;

  /// Creates the extents of a scalar.
  public Extents() {}

  /// Returns the shape of a `TF_Tensor*`.
  ///
  /// Hot path, for the shape of the previous call.
  public Shape of(long tensor) {
    int rank = NativeTensor.rank(tensor);
    boolean same = rank == shape.dims().size();
    for (int i = 0; same && i < rank; i++) {
      same = NativeTensor.dim(tensor, i) == shape.dims().get(i);
    }
    if (!same) {
      long[] seen = new long[rank];
      for (int i = 0; i < rank; i++) {
        seen[i] = NativeTensor.dim(tensor, i);
      }
      remember(Shape.of(seen));
    }
    return shape;
  }

  /// Returns the extents of a shape as `int64_t*`, valid until the next call.
  ///
  /// Hot path, for the shape of the previous call.
  public MemorySegment dims(Shape wanted) {
    if (!wanted.equals(shape)) {
      remember(wanted);
    }
    return dims;
  }

  /// Returns the number of dimensions of the last shape.
  public int rank() {
    return shape.dims().size();
  }

  private void remember(Shape next) {
    shape = next;
    dims = Arena.ofAuto().allocate(JAVA_LONG, Math.max(1, rank()));
    for (int i = 0; i < rank(); i++) {
      dims.setAtIndex(JAVA_LONG, i, next.dims().get(i));
    }
  }
}
