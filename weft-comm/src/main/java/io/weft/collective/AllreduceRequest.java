// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorView;
import java.util.Objects;

/// The description of one allreduce.
///
/// @param input this rank's tensor; borrowed until the handle completes
/// @param output receives the result; has the input's type and shape, and is the same memory or
///   disjoint; borrowed until the handle completes
/// @param op the reduction that combines the elements of two ranks
/// @param hook transforms the tensor before it is sent, and the received result
/// @param options name, deadline and algorithm
public record AllreduceRequest(
    TensorView input, TensorView output, ReduceOp op, WireHook hook, CollectiveOptions options) {

  /// Throws `IllegalArgumentException` if the tensors differ in type or shape, or overlap
  /// partially.
  public AllreduceRequest {
    Objects.requireNonNull(op, "op");
    Objects.requireNonNull(hook, "hook");
    Objects.requireNonNull(options, "options");
    if (input.dtype() != output.dtype() || !input.shape().equals(output.shape())) {
      throw refused(options, "output is " + output.signature() + ", expected " + input.signature());
    }
    long distance = input.data().address() - output.data().address();
    if (distance != 0 && Math.abs(distance) < input.bytes()) {
      throw refused(options, "input and output overlap; they must be the same memory or disjoint");
    }
  }

  /// Creates a request without a hook.
  public AllreduceRequest(
      TensorView input, TensorView output, ReduceOp op, CollectiveOptions options) {
    this(input, output, op, WireHook.NONE, options);
  }

  /// Creates an in-place request.
  public AllreduceRequest(TensorView tensor, ReduceOp op, CollectiveOptions options) {
    this(tensor, tensor, op, options);
  }

  /// Returns a copy of this request with another hook.
  public AllreduceRequest through(WireHook other) {
    Objects.requireNonNull(other, "other");
    return new AllreduceRequest(input, output, op, other, options);
  }

  /// Returns the name by which the ranks match this request.
  public String name() {
    return options.name();
  }

  private static IllegalArgumentException refused(CollectiveOptions options, String why) {
    return new IllegalArgumentException("operation '" + options.name() + "': " + why);
  }
}
