// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.collective.Communicator;
import io.weft.dataparallel.local.LocalSgd;
import io.weft.dataparallel.local.LocalSgdOptions;
import io.weft.tensor.TensorView;
import java.util.LinkedHashMap;
import java.util.List;

/// Local SGD on the weights of an engine. At each exchange it copies the weights out of the session
/// and back. Confined to one thread.
final class LocalTraining {

  private final SessionModel engine;
  private final List<ModelState.Slot> weights;
  private final LocalSgd local;

  /// Starts from the engine's weights, which must be equal on all ranks.
  LocalTraining(LocalSgdOptions options, Communicator communicator, SessionModel engine) {
    this.engine = engine;
    this.weights = engine.weights();
    engine.state().fetch(engine.session(), weights);
    var named = new LinkedHashMap<String, TensorView>();
    weights.forEach(slot -> named.put(slot.name(), slot.copy()));
    this.local = new LocalSgd(communicator, options, named);
  }

  /// Counts a step that the engine has taken.
  ///
  /// @param last true if all ranks must have equal weights after the step
  void step(boolean last) {
    boolean exchanges = local.isNextExchange() || last;
    if (exchanges) {
      engine.state().fetch(engine.session(), weights);
    }
    try {
      local.step();
      if (last) {
        local.synchronize();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while ranks exchange their weights", e);
    }
    if (exchanges) {
      engine.state().assign(engine.session(), weights);
    }
  }

  /// Returns the number of times that the outer optimizer has changed the weights.
  long outerSteps() {
    return local.outerSteps();
  }
}
