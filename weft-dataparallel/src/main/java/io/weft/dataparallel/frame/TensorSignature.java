// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.frame;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;

/// The signature of a tensor, on which ranks must agree.
///
/// @param collective the collective to execute
/// @param root root rank of a broadcast; otherwise 0
/// @param shape shape of the tensor; for an allgather or alltoall its first extent is 0, because
///   ranks may differ in the number of rows
/// @param op reduction; SUM for collectives without one
/// @param prescale factor before the reduction
/// @param postscale factor after it
/// @param priority tensors of the highest priority are sent first
/// @param group name of the tensor's group; empty = none
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

  /// Creates the signature of an allreduce.
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

  /// Returns the length of the tensor in bytes.
  public long bytes() {
    return TensorView.bytes(dtype, shape);
  }

  /// Returns true if the tensor belongs to a group.
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

  /// Returns all fields in which another rank's request may differ, in words.
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
