// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.frame;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;

/// What ranks must agree on for a tensor.
///
/// @param collective what is done with it
/// @param root rank that a broadcast comes from; 0 where there is none
/// @param shape of an allgather or alltoall without rows, since their number may differ
/// @param op SUM where nothing is combined
/// @param prescale factor before the reduction
/// @param postscale factor after it
/// @param priority the highest goes first
/// @param group name of the group that it belongs to; empty = none
/// @param groupSize tensors in that group; 0 = none
public record TensorSignature(
    Collective collective,
    int root,
    DType dtype,
    Shape shape,
    ReduceOp op,
    double prescale,
    double postscale,
    int priority,
    String group,
    int groupSize) {

  /// Of an allreduce.
  public TensorSignature(
      DType dtype,
      Shape shape,
      ReduceOp op,
      double prescale,
      double postscale,
      int priority,
      String group,
      int groupSize) {
    this(
        Collective.ALLREDUCE, 0, dtype, shape, op, prescale, postscale, priority, group, groupSize);
  }

  /// Length of the tensor.
  public long bytes() {
    return TensorView.bytes(dtype, shape);
  }

  /// Whether it is one of several that go together.
  public boolean isGrouped() {
    return groupSize > 0;
  }

  private String what() {
    return switch (collective) {
      case ALLREDUCE -> op + " of ";
      case ALLGATHER -> "allgather of any number of rows of ";
      case REDUCE_SCATTER -> "reduceScatter by " + op + " of ";
      case BROADCAST -> "broadcast from rank " + root + " of ";
      case ALLTOALL -> "alltoall of any number of rows of ";
      case TUNE -> "eager bytes, segment and window of ";
    };
  }

  /// For people: all that another rank may have asked in another way.
  public String words() {
    StringBuilder words = new StringBuilder();
    words.append(what());
    if (collective != Collective.TUNE) {
      words.append(dtype);
    }
    words.append(shape);
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
