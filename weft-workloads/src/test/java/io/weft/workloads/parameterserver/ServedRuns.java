// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.WeftConfig;
import io.weft.testkit.job.LocalJob;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.model.OptimizerKind;
import io.weft.workloads.model.Workload;
import io.weft.workloads.training.ReadMode;
import io.weft.workloads.training.SoloJob;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.Trainer;
import io.weft.workloads.training.TrainingObserver;
import io.weft.workloads.training.TrainingOutcome;
import io.weft.workloads.training.TrainingSettings;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;

/// Small trainings with parameter servers within one process.
final class ServedRuns {

  private ServedRuns() {}

  static TrainingSettings settings(Workload workload, int batch, float rate, Sync sync) {
    return new TrainingSettings(
        workload,
        1,
        batch,
        rate,
        OptimizerKind.MOMENTUM,
        7,
        sync,
        ReadMode.SHARDED,
        Optional.empty());
  }

  /// Returns the result of the worker that reports.
  static ServedResult served(
      TrainingSettings settings, Servers servers, DataSource source, String transport) {
    return served(settings, servers, source, Map.of("WEFT_TRANSPORT", transport));
  }

  static ServedResult served(
      TrainingSettings settings,
      Servers servers,
      DataSource source,
      Map<String, String> variables) {
    return served(settings, servers, source, variables, TrainingObserver.SILENT);
  }

  static ServedResult served(
      TrainingSettings settings,
      Servers servers,
      DataSource source,
      Map<String, String> variables,
      TrainingObserver observer) {
    Map<String, String> all = new HashMap<>(variables);
    all.putIfAbsent("WEFT_DEADLINE", "5m"); // for each step, even on a busy machine
    WeftConfig config = WeftConfig.load(all, new Properties());
    try (LocalJob job = LocalJob.start(servers.ranks(), config)) {
      List<Optional<ServedResult>> brought =
          job.run(
              weft -> {
                try (weft) {
                  return new ServedTraining(settings, servers, source, weft, 1, observer).run();
                }
              });
      return brought.stream().flatMap(Optional::stream).findFirst().orElseThrow();
    }
  }

  /// Runs the training on one rank without servers.
  static TrainingOutcome alone(TrainingSettings settings, DataSource source) {
    return new Trainer(settings, source, new SoloJob(), TrainingObserver.SILENT).run();
  }
}
