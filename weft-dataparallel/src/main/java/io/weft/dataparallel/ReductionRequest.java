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

/// A request for one allreduce of the data-parallel layer. All fields except tensors and the
/// deadline must be equal on all ranks.
///
/// @param name the name by which ranks match the request: 1 to 512 characters
/// @param input this rank's tensor; borrowed until the handle completes
/// @param output memory for the result, of the same type and shape; must be the input's memory or
///   not overlap it. Borrowed until the handle completes
/// @param op the operation that combines elements of two ranks
/// @param factors the factors of the elements before and after they are combined
/// @param wire type in which elements are sent and combined: the input's type, or FLOAT16 or
///   BFLOAT16 for FLOAT32
/// @param priority ready tensors with a higher priority are sent first
/// @param deadline the wait for other ranks after which the tensor fails on all ranks; zero = the
///   deadline of the options
public record ReductionRequest(
    String name,
    TensorView input,
    TensorView output,
    ReduceOp op,
    Factors factors,
    DType wire,
    int priority,
    Duration deadline) {

  /// The factors of an allreduce.
  ///
  /// @param before factor of each rank's elements before they are combined; 1 = none
  /// @param after factor of the result; 1 = none
  public record Factors(double before, double after) {
    /// No scaling.
    public static final Factors NONE = new Factors(1, 1);
  }

  /// The suffix of the exchange in which ranks report why a narrowed tensor failed.
  static final String VALUES = "/values";

  /// Throws `IllegalArgumentException` if the tensors differ in type or shape or overlap in part,
  /// or if the name is invalid. Throws it also if a scale is not 1 and the type is not a floating
  /// type, the operation is not SUM or AVERAGE, or the scale is not a normal number of the type.
  /// Throws it also if `wire` is neither the input's type nor a 16-bit type for FLOAT32, or is
  /// narrower with an operation other than SUM or AVERAGE.
  public ReductionRequest {
    AllreduceRequest plain =
        new AllreduceRequest(input, output, op, CollectiveOptions.named(name).within(deadline));
    if (!factors.equals(Factors.NONE)) {
      checkScaled(
          "operation '" + plain.name() + "'", input.dtype(), op, factors.before, factors.after);
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

  /// Throws `IllegalArgumentException`, whose message begins with `what`, unless tensors of this
  /// type and operation can be scaled by these factors.
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

  /// Returns a request with two tensors, without scales.
  public static ReductionRequest of(String name, TensorView input, TensorView output, ReduceOp op) {
    return new ReductionRequest(
        name, input, output, op, Factors.NONE, input.dtype(), 0, Duration.ZERO);
  }

  /// Returns a request whose output is the input.
  public static ReductionRequest of(String name, TensorView tensor, ReduceOp op) {
    return of(name, tensor, tensor, op);
  }

  /// Returns this request with other factors, which are allowed for SUM or AVERAGE of floating
  /// types.
  public ReductionRequest scaled(double before, double after) {
    return new ReductionRequest(
        name, input, output, op, new Factors(before, after), wire, priority, deadline);
  }

  double prescale() {
    return factors.before;
  }

  double postscale() {
    return factors.after;
  }

  /// Returns this request with another operation.
  public ReductionRequest by(ReduceOp other) {
    return new ReductionRequest(name, input, output, other, factors, wire, priority, deadline);
  }

  /// Returns this request narrowed to 16 bits per element, if its tensors are FLOAT32; the
  /// operation must then be SUM or AVERAGE. Elements are multiplied by the factor before in
  /// FLOAT32, rounded to `type`, added in `type`, and multiplied by the factor after in FLOAT32
  /// again. A tensor of another type is sent in its own type.
  ///
  /// An element that is not finite in `type`, on a rank or in the sum, fails the reduction on all
  /// ranks with `Broken`, which names tensor, rank, value and index. Inputs and outputs then keep
  /// their values, and the reducer remains usable.
  ///
  /// @param type FLOAT16 or BFLOAT16
  public ReductionRequest narrowed(DType type) {
    DType travels = input.dtype() == DType.FLOAT32 ? type : input.dtype();
    return new ReductionRequest(name, input, output, op, factors, travels, priority, deadline);
  }

  /// Returns this request with another priority.
  public ReductionRequest withPriority(int other) {
    return new ReductionRequest(name, input, output, op, factors, wire, other, deadline);
  }

  /// Returns this request with another deadline.
  public ReductionRequest within(Duration limit) {
    return new ReductionRequest(name, input, output, op, factors, wire, priority, limit);
  }

  /// Returns the communicator's request, after all ranks are known to have equal requests.
  ///
  /// @param otherwise the deadline of a request without one
  /// @param narrowed the tensor in its narrower wire type; null = it is sent in its own type
  AllreduceRequest asAllreduce(Duration otherwise, @Nullable NarrowedTensor narrowed) {
    Duration limit = deadline.isZero() ? otherwise : deadline;
    CollectiveOptions options = SumOrder.options(name).within(limit);
    WireHook hook = narrowed == null ? hook(prescale(), postscale()) : narrowed;
    return new AllreduceRequest(input, output, op, hook, options);
  }

  /// Returns the hook that scales the tensor before and after the wire.
  static WireHook hook(double prescale, double postscale) {
    return prescale == 1 && postscale == 1 ? WireHook.NONE : WireHook.scaling(prescale, postscale);
  }
}
