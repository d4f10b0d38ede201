// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.collective.Communicator;
import io.weft.dataparallel.sentinel.DivergedException;
import io.weft.dataparallel.sentinel.Divergence;
import io.weft.dataparallel.sentinel.DivergencePolicy;
import io.weft.dataparallel.sentinel.DivergenceSentinel;
import io.weft.tensor.TensorView;
import java.util.LinkedHashMap;
import java.util.List;

/// A comparison of an engine's weights with the weights of the other ranks. Confined to one thread.
final class CheckedWeights {

  private final SessionModel engine;
  private final WeightCheck check;
  private final long stepsBefore;
  private final List<ModelState.Slot> weights;
  private final DivergenceSentinel sentinel;

  /// @param stepsBefore the number of training steps before the first step counted here
  CheckedWeights(
      WeightCheck check, Communicator communicator, SessionModel engine, long stepsBefore) {
    this.engine = engine;
    this.check = check;
    this.stepsBefore = stepsBefore;
    this.weights = engine.weights();
    var named = new LinkedHashMap<String, TensorView>();
    weights.forEach(slot -> named.put(slot.name(), slot.copy()));
    this.sentinel = new DivergenceSentinel(communicator, check.every(), check.policy(), named);
  }

  /// Counts a step that the engine has taken. Throws `TrainingException.Diverged` if the weights
  /// differ and the policy is to stop.
  void step(TrainingObserver observer) {
    boolean reads = sentinel.isNextCheck();
    if (reads) {
      engine.state().fetch(engine.session(), weights);
    }
    try {
      sentinel.step().ifPresent(divergence -> tell(divergence, observer));
    } catch (DivergedException stopped) {
      throw new TrainingException.Diverged(
          shifted(stopped.divergence()).words()
              + "; resume from a checkpoint, and suspect the memory of those ranks");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while ranks compare their weights", e);
    }
  }

  private void tell(Divergence divergence, TrainingObserver observer) {
    boolean healed = check.policy() == DivergencePolicy.HEAL;
    if (healed) {
      engine.state().assign(engine.session(), weights);
    }
    observer.onDivergence(shifted(divergence).words() + (healed ? "; healed" : ""));
  }

  private Divergence shifted(Divergence of) {
    return new Divergence(
        of.lastGoodStep() + stepsBefore, of.firstBadStep() + stepsBefore, of.tensors());
  }
}
