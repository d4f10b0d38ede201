// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.frame;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;

/// What ranks must agree on for a tensor.
///
/// @param prescale factor before the reduction
/// @param postscale factor after it
/// @param priority the highest goes first
/// @param group name of the group that it belongs to; empty = none
/// @param groupSize tensors in that group; 0 = none
public record TensorSignature(
    DType dtype,
    Shape shape,
    ReduceOp op,
    double prescale,
    double postscale,
    int priority,
    String group,
    int groupSize) {

  /// Length of the tensor.
  public long bytes() {
    return TensorView.bytes(dtype, shape);
  }

  /// Whether it is one of several that go together.
  public boolean isGrouped() {
    return groupSize > 0;
  }

  /// For people: all that another rank may have asked in another way.
  public String words() {
    StringBuilder words = new StringBuilder();
    words.append(op).append(" of ").append(dtype).append(shape);
    if (prescale != 1 || postscale != 1) {
      words.append(" scaled by ").append(prescale).append(" and ").append(postscale);
    }
    if (priority != 0) {
      words.append(" with priority ").append(priority);
    }
    if (isGrouped()) {
      words.append(" in group '").append(group).append("' of ").append(groupSize);
    }
    return words.toString();
  }
}
