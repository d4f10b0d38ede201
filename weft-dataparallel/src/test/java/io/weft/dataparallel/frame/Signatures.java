// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.frame;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;

/// Signatures for tests.
public final class Signatures {

  private Signatures() {}

  /// Returns the signature of a sum of `elements` floats.
  public static TensorSignature floats(long elements) {
    return of(DType.FLOAT32, elements, 0, "", 0);
  }

  /// Returns the signature of a sum of a vector, with a priority and optionally a group.
  public static TensorSignature of(
      DType dtype, long elements, int priority, String group, int groupSize) {
    return new TensorSignature(
        Collective.ALLREDUCE,
        0,
        dtype,
        Shape.of(elements),
        ReduceOp.SUM,
        TensorSignature.Scaling.NONE,
        priority,
        new TensorSignature.Group(group, groupSize));
  }
}
