// SPDX-License-Identifier: Apache-2.0
package io.weft.gradient;

import io.weft.collective.AllreduceRequest;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.collective.WireHook;
import io.weft.comm.Handle;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.TensorView;
import java.util.Objects;

/// Averages the gradients of a step over the ranks of a communicator: what an optimizer uses in
/// place of the communicator, so that how gradients travel can change without it. Thread-safe.
public interface GradientReducer {

  /// Each gradient as an allreduce of its own, as it is.
  Factory ALLREDUCE = allreduce(WireHook.NONE);

  /// The mean of all ranks' `gradient`, element by element, in `average`: the same memory, or apart
  /// from it. All ranks reduce the same names, in any order. Borrows both until the handle
  /// completes. Throws, and fails, as `Communicator.allreduce` does.
  Handle<TensorView> reduce(String name, TensorView gradient, TensorView average);

  /// In place.
  default Handle<TensorView> reduce(String name, TensorView gradient) {
    return reduce(name, gradient, gradient);
  }

  /// Each gradient as an allreduce of its own, through this hook: as 16-bit numbers by
  /// `WireHook.narrowing`.
  static Factory allreduce(WireHook hook) {
    Objects.requireNonNull(hook, "hook");
    return communicator ->
        (name, gradient, average) ->
            communicator.allreduce(
                new AllreduceRequest(
                    gradient, average, ReduceOp.AVERAGE, hook, CollectiveOptions.named(name)));
  }

  /// Each gradient as an allreduce of its own: divided by `factor` before it is added, and the sum
  /// multiplied by `factor` / n. In narrow types, a factor between 1 and n keeps sums in range and
  /// small gradients from vanishing. Horovod's `gradient_predivide_factor`. Throws
  /// `IllegalArgumentException` for a factor that is not a positive number.
  static Factory predivided(double factor) {
    if (!(factor > 0) || factor == Double.POSITIVE_INFINITY) {
      throw new IllegalArgumentException(
          "gradients are divided by a positive number before they are added, got " + factor);
    }
    return communicator -> {
      WireHook hook = WireHook.scaling(1 / factor, factor / communicator.size());
      return (name, gradient, average) ->
          communicator.allreduce(
              new AllreduceRequest(
                  gradient, average, ReduceOp.SUM, hook, CollectiveOptions.named(name)));
    };
  }

  /// Makes reducers, all alike. It holds no communicator; what it makes holds one.
  interface Factory {

    /// A reducer of gradients of this communicator's ranks.
    GradientReducer over(Communicator communicator);
  }
}
