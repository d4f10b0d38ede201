// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.dataparallel.local.LocalSgdOptions;
import io.weft.dataparallel.local.OuterOptimizer;

/// How the ranks keep their models together.
public sealed interface Sync {

  /// Every gradient is averaged in every step, so that all ranks have the same model throughout.
  record Gradients() implements Sync {
    @Override
    public String toString() {
      return "gradients";
    }
  }

  /// Each rank trains a model of its own; every so many steps, and at the end of each epoch, the
  /// models become their average [VIS16 §3.3.3], optimizer state included.
  ///
  /// @param steps at least 1
  record Weights(int steps) implements Sync {
    @Override
    public String toString() {
      return "weights:" + steps;
    }
  }

  /// Each rank trains a model of its own; every so many steps an outer optimizer makes new weights
  /// of what the ranks' weights have changed [DILOCO §2]. State of the ranks' optimizers stays
  /// where it is. The ranks have the same weights at the end of each epoch.
  record Local(LocalSgdOptions options) implements Sync {
    @Override
    public String toString() {
      OuterOptimizer outer = options.outer();
      return "local:%d,bits=%d,fragments=%d,delay=%d,lr=%s,momentum=%s"
          .formatted(
              options.every(),
              options.bits(),
              options.fragments(),
              options.delay(),
              outer.learningRate(),
              outer.momentum());
    }
  }

  /// There is one model, on parameter servers; each worker's gradients change it when they come,
  /// and nobody waits for another worker.
  record Asynchronous() implements Sync {
    @Override
    public String toString() {
      return "async";
    }
  }

  /// There is one model, on parameter servers; each worker's gradients change it when they come,
  /// and no worker goes on that is more than so many steps ahead of one whose gradients it lacks
  /// [HCC13 §3].
  ///
  /// @param steps at least 1
  record Bounded(int steps) implements Sync {
    @Override
    public String toString() {
      return "ssp:" + steps;
    }
  }
}
