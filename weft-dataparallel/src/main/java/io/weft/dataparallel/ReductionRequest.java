// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.collective.AllreduceRequest;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.WireHook;
import io.weft.dataparallel.fusion.SumOrder;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.ScaleFactor;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

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
/// @param wire type in which elements travel and are combined: that of the input, or FLOAT16 or
///   BFLOAT16 for FLOAT32
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
    DType wire,
    int priority,
    Duration deadline) {

  /// What the exchange is called by which ranks tell each other why a narrowed tensor failed.
  static final String VALUES = "/values";

  /// Throws `IllegalArgumentException` if the tensors differ in type or shape, or overlap; if
  /// another type than a floating one is scaled, or what is not added, or by a factor that is not a
  /// normal number of its type; if another type than FLOAT32 is narrowed, or what is not added; or
  /// for a bad name.
  public ReductionRequest {
    AllreduceRequest plain =
        new AllreduceRequest(input, output, op, CollectiveOptions.named(name).within(deadline));
    if (prescale != 1 || postscale != 1) {
      checkScaled("operation '" + plain.name() + "'", input.dtype(), op, prescale, postscale);
    }
    if (wire != input.dtype()) {
      checkNarrowed("operation '" + plain.name() + "'", input.dtype(), wire, op);
      var unused = CollectiveOptions.named(name + VALUES);
    }
  }

  private static void checkNarrowed(String what, DType own, DType wire, ReduceOp op) {
    if (own != DType.FLOAT32 || (wire != DType.FLOAT16 && wire != DType.BFLOAT16)) {
      throw new IllegalArgumentException(
          what + ": FLOAT32 travels as FLOAT16 or BFLOAT16; " + own + " does not as " + wire);
    }
    if (op != ReduceOp.SUM && op != ReduceOp.AVERAGE) {
      throw new IllegalArgumentException(
          what + ": only SUM and AVERAGE travel as " + wire + ", not " + op);
    }
  }

  /// Throws `IllegalArgumentException`, which begins with `what`, unless such tensors are scaled by
  /// such factors.
  static void checkScaled(
      String what, DType dtype, ReduceOp op, double prescale, double postscale) {
    if (op != ReduceOp.SUM && op != ReduceOp.AVERAGE) {
      throw new IllegalArgumentException(what + ": only SUM and AVERAGE are scaled, not " + op);
    }
    if (!dtype.floating()) {
      throw new IllegalArgumentException(
          what + ": only floating types are scaled, not " + dtype + "; convert it before");
    }
    ScaleFactor.require(what, dtype, prescale);
    ScaleFactor.require(what, dtype, postscale);
  }

  /// Of two tensors, without scales.
  public static ReductionRequest of(String name, TensorView input, TensorView output, ReduceOp op) {
    return new ReductionRequest(name, input, output, op, 1, 1, input.dtype(), 0, Duration.ZERO);
  }

  /// In place.
  public static ReductionRequest of(String name, TensorView tensor, ReduceOp op) {
    return of(name, tensor, tensor, op);
  }

  /// The same with other factors, of SUM or AVERAGE of floating types.
  public ReductionRequest scaled(double before, double after) {
    return new ReductionRequest(name, input, output, op, before, after, wire, priority, deadline);
  }

  /// The same by another operation.
  public ReductionRequest by(ReduceOp other) {
    return new ReductionRequest(
        name, input, output, other, prescale, postscale, wire, priority, deadline);
  }

  /// The same in half of the bytes, where it is FLOAT32, and by SUM or AVERAGE: elements are
  /// multiplied by `prescale` in FLOAT32, rounded to `type`, added in that, and multiplied by
  /// `postscale` in FLOAT32 again. What has another type travels as it is.
  ///
  /// An element that is not finite in `type`, on a rank or in the sum, fails the reduction on all
  /// ranks with `Broken`, which names tensor, rank, value and index; inputs and outputs are then as
  /// they were, and the reducer works on.
  ///
  /// @param type FLOAT16 or BFLOAT16
  public ReductionRequest narrowed(DType type) {
    DType travels = input.dtype() == DType.FLOAT32 ? type : input.dtype();
    return new ReductionRequest(
        name, input, output, op, prescale, postscale, travels, priority, deadline);
  }

  /// The same with another priority.
  public ReductionRequest withPriority(int other) {
    return new ReductionRequest(
        name, input, output, op, prescale, postscale, wire, other, deadline);
  }

  /// The same with another deadline.
  public ReductionRequest within(Duration limit) {
    return new ReductionRequest(
        name, input, output, op, prescale, postscale, wire, priority, limit);
  }

  /// What the communicator is asked, when all ranks are known to ask the same.
  ///
  /// @param otherwise the deadline of a request that has none
  /// @param narrowed its way in another type; null = in its own
  AllreduceRequest asAllreduce(Duration otherwise, @Nullable NarrowedTensor narrowed) {
    Duration limit = deadline.isZero() ? otherwise : deadline;
    CollectiveOptions options = SumOrder.options(name).within(limit);
    WireHook hook = narrowed == null ? hook(prescale, postscale) : narrowed;
    return new AllreduceRequest(input, output, op, hook, options);
  }

  /// What happens before and after the wire.
  static WireHook hook(double prescale, double postscale) {
    return prescale == 1 && postscale == 1 ? WireHook.NONE : WireHook.scaling(prescale, postscale);
  }
}
