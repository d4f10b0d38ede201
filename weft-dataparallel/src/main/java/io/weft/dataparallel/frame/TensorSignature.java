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
/// @param scaling factors before and after the reduction
/// @param priority tensors of the highest priority are sent first
/// @param group the tensor's group
public record TensorSignature(
    Collective collective,
    int root,
    DType dtype,
    Shape shape,
    ReduceOp op,
    Scaling scaling,
    int priority,
    Group group) {

  /// The factors of a reduction.
  ///
  /// @param prescale factor before the reduction
  /// @param postscale factor after it
  public record Scaling(double prescale, double postscale) {

    /// The factors 1.
    public static final Scaling NONE = new Scaling(1, 1);
  }

  /// The group of a tensor.
  ///
  /// @param name of the group; empty = none
  /// @param size tensors in that group; 0 = none
  public record Group(String name, int size) {

    /// The group of a tensor without a group.
    public static final Group NONE = new Group("", 0);
  }

  /// Returns the length of the tensor in bytes.
  public long bytes() {
    return TensorView.bytes(dtype, shape);
  }

  /// Returns true if the tensor belongs to a group.
  public boolean isGrouped() {
    return group.size > 0;
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
    if (!scaling.equals(Scaling.NONE)) {
      words
          .append(" scaled by ")
          .append(scaling.prescale)
          .append(" and ")
          .append(scaling.postscale);
    }
    if (priority != 0) {
      words.append(" with priority ").append(priority);
    }
    if (isGrouped()) {
      words.append(" in group '").append(group.name).append("' of ").append(group.size);
    }
    return words.toString();
  }
}
