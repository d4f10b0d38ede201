// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.dataparallel.local.LocalSgdOptions;
import io.weft.dataparallel.local.OuterOptimizer;

/// The way in which the ranks keep their models consistent.
public sealed interface Sync {

  /// Ranks average every gradient in every step, so that all ranks always have equal models.
  record Gradients() implements Sync {
    @Override
    public String toString() {
      return "gradients";
    }
  }

  /// Each rank trains a separate model. Every `steps` steps, and at the end of each epoch, the
  /// ranks average their models [VIS16 §3.3.3], optimizer state included.
  ///
  /// @param steps at least 1
  record Weights(int steps) implements Sync {
    @Override
    public String toString() {
      return "weights:" + steps;
    }
  }

  /// Each rank trains a separate model. At regular intervals an outer optimizer computes new
  /// weights from the changes of the ranks' weights [DILOCO §2]. The ranks do not exchange the
  /// state of their optimizers. The ranks have equal weights at the end of each epoch.
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

  /// One model is on parameter servers. Each worker's gradients change it on arrival, and no worker
  /// waits for another.
  record Asynchronous() implements Sync {
    @Override
    public String toString() {
      return "async";
    }
  }

  /// One model is on parameter servers. Each worker's gradients change it on arrival. A worker
  /// waits while it is more than `steps` steps ahead of a worker whose gradients it lacks [HCC13
  /// §3].
  ///
  /// @param steps at least 1
  record Bounded(int steps) implements Sync {
    @Override
    public String toString() {
      return "ssp:" + steps;
    }
  }
}
