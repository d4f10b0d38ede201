// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.AllreduceRequest;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.WireHook;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorView;
import java.time.Duration;

/// One allreduce of the data-parallel layer, as data. What is not a tensor is the same on all
/// ranks, but for the deadline.
///
/// @param name by which ranks match it: 1 to 512 characters
/// @param input this rank's tensor; borrowed until the handle completes
/// @param output where the result is written; of the same type and shape, and either the same
///   memory or apart. Borrowed likewise
/// @param op how elements of two ranks become one
/// @param prescale factor of each rank's elements before they are combined; 1 = none
/// @param postscale factor of the result; 1 = none
/// @param priority among tensors that are ready, the highest goes first
/// @param deadline after which wait for other ranks the tensor fails on all of them; zero = as the
///   options say
public record ReductionRequest(
    String name,
    TensorView input,
    TensorView output,
    ReduceOp op,
    double prescale,
    double postscale,
    int priority,
    Duration deadline) {

  /// Throws `IllegalArgumentException` if the tensors differ in type or shape, or overlap; if
  /// another type than a floating one is scaled, or what is not added; or for a bad name.
  public ReductionRequest {
    AllreduceRequest plain =
        new AllreduceRequest(input, output, op, CollectiveOptions.named(name).within(deadline));
    if (prescale != 1 || postscale != 1) {
      checkScaled("operation '" + plain.name() + "'", input.dtype(), op);
    }
  }

  /// Throws `IllegalArgumentException`, which begins with `what`, unless such tensors are scaled.
  static void checkScaled(String what, DType dtype, ReduceOp op) {
    if (op != ReduceOp.SUM && op != ReduceOp.AVERAGE) {
      throw new IllegalArgumentException(what + ": only SUM and AVERAGE are scaled, not " + op);
    }
    if (!dtype.floating()) {
      throw new IllegalArgumentException(
          what + ": only floating types are scaled, not " + dtype + "; convert it before");
    }
  }

  /// Of two tensors, without scales.
  public static ReductionRequest of(String name, TensorView input, TensorView output, ReduceOp op) {
    return new ReductionRequest(name, input, output, op, 1, 1, 0, Duration.ZERO);
  }

  /// In place.
  public static ReductionRequest of(String name, TensorView tensor, ReduceOp op) {
    return of(name, tensor, tensor, op);
  }

  /// The same with other factors, of SUM or AVERAGE of floating types.
  public ReductionRequest scaled(double before, double after) {
    return new ReductionRequest(name, input, output, op, before, after, priority, deadline);
  }

  /// The same with another priority.
  public ReductionRequest withPriority(int other) {
    return new ReductionRequest(name, input, output, op, prescale, postscale, other, deadline);
  }

  /// The same with another deadline.
  public ReductionRequest within(Duration limit) {
    return new ReductionRequest(name, input, output, op, prescale, postscale, priority, limit);
  }

  /// What the communicator is asked, when all ranks are known to ask the same.
  ///
  /// @param otherwise the deadline of a request that has none
  AllreduceRequest asAllreduce(Duration otherwise) {
    Duration limit = deadline.isZero() ? otherwise : deadline;
    CollectiveOptions options = CollectiveOptions.named(name).within(limit).inFixedOrder();
    return new AllreduceRequest(input, output, op, hook(prescale, postscale), options);
  }

  /// What happens before and after the wire.
  static WireHook hook(double prescale, double postscale) {
    return prescale == 1 && postscale == 1 ? WireHook.NONE : WireHook.scaling(prescale, postscale);
  }
}
