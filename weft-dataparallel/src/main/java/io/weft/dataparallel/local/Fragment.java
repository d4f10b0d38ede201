// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.local;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT_UNALIGNED;

import io.weft.comm.Handle;
import io.weft.gradient.GradientReducer;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The tensors that are exchanged together, as one row of FLOAT32. A fragment has the last weights
/// on which all ranks agreed, the outer optimizer's velocity, and the outer gradient in flight. One
/// thread.
final class Fragment {

  private final String name;
  private final List<TensorView> tensors;
  private final TensorView gradient;
  private final MemorySegment agreed;
  private final MemorySegment velocity;
  private @Nullable Handle<TensorView> exchange;
  private long due;
  private long agreedAt;
  private long updates;

  /// Creates a fragment of tensors that are equal on all ranks and borrowed until the last use.
  Fragment(String name, List<TensorView> tensors) {
    this.name = name;
    this.tensors = tensors;
    long elements = tensors.stream().mapToLong(tensor -> tensor.shape().elements()).sum();
    Arena arena = Arena.ofAuto();
    gradient = new TensorView(DType.FLOAT32, Shape.of(elements), row(arena, elements));
    agreed = row(arena, elements);
    velocity = row(arena, elements);
    long at = 0;
    for (TensorView tensor : tensors) {
      agreed.asSlice(at, tensor.bytes()).copyFrom(tensor.data());
      at += tensor.bytes();
    }
  }

  private static MemorySegment row(Arena arena, long elements) {
    return arena.allocate(elements * Float.BYTES, 64);
  }

  long elements() {
    return gradient.shape().elements();
  }

  /// Returns the number of outer steps that have changed the fragment.
  long updates() {
    return updates;
  }

  /// Returns true if the exchange in flight must be applied at this step.
  boolean isDue(long step) {
    return exchange != null && due == step;
  }

  boolean isUnderWay() {
    return exchange != null;
  }

  /// Returns true if the tensors have the agreed weights, which no step has changed since.
  boolean isAgreed(long step) {
    return exchange == null && agreedAt == step;
  }

  /// Starts the exchange of the difference between the agreed weights and the present ones.
  ///
  /// @param applied step at which `apply` must be called
  void start(GradientReducer reducer, long applied) {
    MemorySegment difference = gradient.data();
    long place = 0;
    for (TensorView tensor : tensors) {
      MemorySegment weights = tensor.data();
      long elements = tensor.shape().elements();
      for (long i = 0; i < elements; i++) {
        difference.setAtIndex(
            JAVA_FLOAT_UNALIGNED,
            place + i,
            agreed.getAtIndex(JAVA_FLOAT_UNALIGNED, place + i)
                - weights.getAtIndex(JAVA_FLOAT_UNALIGNED, i));
      }
      place += elements;
    }
    exchange = reducer.reduce(name, gradient);
    due = applied;
  }

  /// Waits for the exchange, takes the outer step and writes the new weights into the tensors. They
  /// replace changes that the rank has made since the exchange started.
  void apply(OuterOptimizer outer, long step) throws InterruptedException {
    Handle<TensorView> running = exchange;
    if (running == null) {
      throw new IllegalStateException("fragment " + name + " has no exchange under way");
    }
    TensorView mean = running.await();
    exchange = null;
    outer.step(agreed, velocity, mean.data(), elements());
    long at = 0;
    for (TensorView tensor : tensors) {
      tensor.data().copyFrom(agreed.asSlice(at, tensor.bytes()));
      at += tensor.bytes();
    }
    agreedAt = step;
    updates++;
  }
}
