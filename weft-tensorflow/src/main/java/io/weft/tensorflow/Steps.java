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

/// The runs of sessions, called steps, whose ops use one communicator. All gradients of a step take
/// one reducer. Where one op of a step fails, TensorFlow starts no further op of it, so ranks have
/// submitted different tensors: the step's reducers are restarted, which fails on all ranks what is
/// under way, and the next step takes new ones. So no tensor meets one of another step. The
/// communicator itself is aborted only if the step has operations of it under way. Thread-safe.
final class Steps {

  /// Steps that are remembered; sessions of one process run fewer at once.
  private static final int MOST = 256;

  /// The number of an op that belongs to no step.
  private static final long NONE = 0;

  /// Guarded by this, and so are the steps.
  private final Map<Long, Step> steps = new LinkedHashMap<>();

  /// What averages gradients now, by factory: kept from step to step as long as the layer keeps its
  /// reducer, since it may hold residuals.
  private final Map<LayerFactory, Bound> current = new WeakHashMap<>();

  /// Of the step that failed last: its first op's. Guarded by this.
  private @Nullable CommException failure;

  private record Bound(Reducer reducer, GradientReducer gradients) {}

  private static final class Step {
    final Map<LayerFactory, Bound> bound = new HashMap<>(2);

    /// Operations of the communicator that are under way.
    int plain;

    @Nullable CommException failure;
  }

  /// Notes that an op of this step begins. Returns what it uses. Throws `CommException.Aborted` if
  /// the step has failed.
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
    Reducer reducer = reducer(factory, served); // not under the lock: it may wait for room
    synchronized (this) {
      return served.by(
          running(number).bound.computeIfAbsent(factory, f -> now(f, reducer)).gradients);
    }
  }

  private static Reducer reducer(LayerFactory factory, Served served) {
    return factory.layer().over(served.communicator());
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

  /// Notes that an op of this step has ended well.
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

  /// Notes that an op of this step has failed. Returns whether the communicator is to be aborted.
  /// Does not block.
  ///
  /// @param used by the op; null if it did not begin
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

  /// Returns the first failure of the step that failed last; empty if none has failed.
  synchronized Optional<CommException> failure() {
    return Optional.ofNullable(failure);
  }
}
