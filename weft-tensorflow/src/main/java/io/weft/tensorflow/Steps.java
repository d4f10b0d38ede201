// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.comm.CommException;
import io.weft.dataparallel.LayerFactory;
import io.weft.dataparallel.Reducer;
import io.weft.gradient.GradientReducer;
import io.weft.tensorflow.CommunicatorTable.Served;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.WeakHashMap;
import org.jspecify.annotations.Nullable;

/// The session runs, called steps, whose ops use one communicator. All gradients of a step use one
/// reducer. If an op of a step fails, TensorFlow starts no further op of the step, so ranks have
/// submitted different tensors. The step's reducers are then restarted, which fails their pending
/// work on all ranks, and the next step uses new ones. Tensors of different steps are therefore
/// never matched. The communicator itself is aborted only if the step has pending operations of it.
/// Thread-safe.
final class Steps {

  /// The maximum number of remembered steps; sessions of one process run fewer at once.
  private static final int MOST = 256;

  /// The number of an op without a step.
  private static final long NONE = 0;

  /// Guarded by this, as are the steps.
  private final Map<Long, Step> steps = new LinkedHashMap<>();

  /// The current gradient reducer of each factory. It is kept across steps while the layer keeps
  /// its reducer, because it may hold residuals.
  private final Map<LayerFactory, Bound> current = new WeakHashMap<>();

  /// The failure of the first failed op of the most recent failed step. Guarded by this.
  private @Nullable CommException failure;

  private record Bound(Reducer reducer, GradientReducer gradients) {}

  private static final class Step {
    final Map<LayerFactory, Bound> bound = new HashMap<>(2);

    /// The number of pending operations of the communicator.
    int plain;

    @Nullable CommException failure;
  }

  /// Registers the start of an op of this step and returns the objects that the op uses. Throws
  /// `CommException.Aborted` if the step has failed.
  ///
  /// Hot path.
  Served begin(long number, Served served) {
    LayerFactory factory = served.factory();
    if (number == NONE) {
      return factory == null ? served : served.by(now(factory, reducer(factory, served)).gradients);
    }
    synchronized (this) {
      Step step = running(number);
      if (factory == null) {
        step.plain++;
        return served;
      }
      Bound known = step.bound.get(factory);
      if (known != null) {
        return served.by(known.gradients);
      }
    }
    Reducer reducer = reducer(factory, served); // outside the lock, because it may block
    synchronized (this) {
      return served.by(
          running(number).bound.computeIfAbsent(factory, f -> now(f, reducer)).gradients);
    }
  }

  private static Reducer reducer(LayerFactory factory, Served served) {
    return factory.layer().reducer(served.communicator());
  }

  private synchronized Bound now(LayerFactory factory, Reducer reducer) {
    Bound known = current.get(factory);
    if (known == null || known.reducer != reducer) {
      known = new Bound(reducer, factory.gradients(reducer));
      current.put(factory, known);
    }
    return known;
  }

  private Step running(long number) {
    Step step = steps.get(number);
    if (step == null) {
      step = new Step();
      steps.put(number, step);
      if (steps.size() > MOST) {
        steps.remove(steps.keySet().iterator().next());
      }
    }
    CommException failure = step.failure;
    if (failure != null) {
      throw new CommException.Aborted(
          "the step has failed with another op: " + failure.getMessage(), failure);
    }
    return step;
  }

  /// Registers the successful end of an op of this step.
  ///
  /// Hot path.
  void end(long number, Served used) {
    if (number != NONE && used.factory() == null) {
      synchronized (this) {
        Step step = steps.get(number);
        if (step != null) {
          step.plain--;
        }
      }
    }
  }

  /// Registers the failure of an op of this step. Returns whether the caller must abort the
  /// communicator. Does not block.
  ///
  /// @param used the objects that `begin` returned; null if the op did not begin
  boolean fail(long number, Served served, @Nullable Served used, CommException cause) {
    Map<LayerFactory, Bound> bound = new HashMap<>();
    LayerFactory factory = served.factory();
    boolean plain = factory == null;
    if (number == NONE) {
      synchronized (this) {
        failure = cause;
        Bound now = factory == null ? null : current.get(factory);
        if (now != null) {
          bound.put(factory, now);
        }
      }
    }
    if (number != NONE) {
      synchronized (this) {
        Step step = steps.get(number);
        if (step != null) {
          step.plain -= plain && used != null ? 1 : 0;
          if (step.failure == null) {
            step.failure = cause;
            failure = cause;
          }
          bound.putAll(step.bound);
          plain |= step.plain > 0;
        }
      }
    }
    bound.forEach((by, each) -> by.layer().restart(served.communicator(), each.reducer, cause));
    return plain;
  }

  /// Returns the first failure of the most recent failed step, or empty if none has failed.
  synchronized Optional<CommException> failure() {
    return Optional.ofNullable(failure);
  }
}
