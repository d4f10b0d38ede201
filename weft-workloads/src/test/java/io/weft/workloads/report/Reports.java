// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.report;

import io.weft.workloads.model.OptimizerKind;
import io.weft.workloads.model.Workload;
import io.weft.workloads.training.ReadMode;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.TrainingSettings;
import java.util.Optional;

/// A run of two epochs, in batches of 32.
final class Reports {

  static final TrainingSettings SETTINGS =
      new TrainingSettings(
          Workload.MNIST_DNN,
          2,
          32,
          0.05f,
          OptimizerKind.MOMENTUM,
          1,
          new Sync.Gradients(),
          ReadMode.SHARDED,
          Optional.empty());

  private Reports() {}
}
