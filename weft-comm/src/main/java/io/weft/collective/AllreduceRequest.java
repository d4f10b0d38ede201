// SPDX-License-Identifier: Apache-2.0
package io.weft.collective;

import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorView;
import java.util.Objects;

/// One allreduce, as data.
///
/// @param input this rank's tensor; borrowed until the handle completes
/// @param output where the result is written; of the same type and shape, and either the same
///   memory or apart. Borrowed likewise
/// @param op how elements of two ranks become one
/// @param hook what happens to the tensor before it goes to the wire, and to what came from it
/// @param options name, deadline and algorithm
public record AllreduceRequest(
    TensorView input, TensorView output, ReduceOp op, WireHook hook, CollectiveOptions options) {

  /// Throws `IllegalArgumentException` if the tensors differ in type or shape, or overlap.
  public AllreduceRequest {
    Objects.requireNonNull(op, "op");
    Objects.requireNonNull(hook, "hook");
    Objects.requireNonNull(options, "options");
    if (input.dtype() != output.dtype() || !input.shape().equals(output.shape())) {
      throw refused(options, "output is " + output.signature() + ", expected " + input.signature());
    }
    long distance = input.data().address() - output.data().address();
    if (distance != 0 && Math.abs(distance) < input.bytes()) {
      throw refused(options, "input and output overlap; they must be the same memory or apart");
    }
  }

  /// With nothing before and after the wire.
  public AllreduceRequest(
      TensorView input, TensorView output, ReduceOp op, CollectiveOptions options) {
    this(input, output, op, WireHook.NONE, options);
  }

  /// In place.
  public AllreduceRequest(TensorView tensor, ReduceOp op, CollectiveOptions options) {
    this(tensor, tensor, op, options);
  }

  /// The same through another hook.
  public AllreduceRequest through(WireHook other) {
    Objects.requireNonNull(other, "other");
    return new AllreduceRequest(input, output, op, other, options);
  }

  /// By which ranks match it.
  public String name() {
    return options.name();
  }

  private static IllegalArgumentException refused(CollectiveOptions options, String why) {
    return new IllegalArgumentException("operation '" + options.name() + "': " + why);
  }
}
