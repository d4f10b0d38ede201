// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.comm.CommException;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.Reducer;
import io.weft.tensorflow.CommunicatorTable.Served;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
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

  private static final class Step {
    final Map<DataParallel, Reducer> reducers = new HashMap<>(2);

    /// Operations of the communicator that are under way.
    int plain;

    @Nullable CommException failure;
  }

  /// Notes that an op of this step begins. Returns what it uses. Throws `CommException.Aborted` if
  /// the step has failed.
  ///
  /// Hot path.
  Served begin(long number, Served served) {
    DataParallel layer = served.layer();
    if (number == NONE) {
      return layer == null ? served : served.by(layer.over(served.communicator()));
    }
    synchronized (this) {
      Step step = running(number);
      if (layer == null) {
        step.plain++;
        return served;
      }
      Reducer known = step.reducers.get(layer);
      if (known != null) {
        return served.by(known);
      }
    }
    Reducer made = layer.over(served.communicator()); // not under the lock: it may wait for room
    synchronized (this) {
      Reducer known = running(number).reducers.putIfAbsent(layer, made);
      return served.by(known == null ? made : known);
    }
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
    if (number != NONE && used.layer() == null) {
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
    Map<DataParallel, Reducer> reducers = new HashMap<>();
    boolean plain = served.layer() == null;
    if (served.layer() != null && used != null && used.reducer() instanceof Reducer reducer) {
      reducers.put(served.layer(), reducer);
    }
    if (number != NONE) {
      synchronized (this) {
        Step step = steps.get(number);
        if (step != null) {
          step.plain -= plain && used != null ? 1 : 0;
          step.failure = step.failure == null ? cause : step.failure;
          reducers.putAll(step.reducers);
          plain |= step.plain > 0;
        }
      }
    }
    reducers.forEach((layer, reducer) -> layer.restart(served.communicator(), reducer, cause));
    return plain;
  }
}
