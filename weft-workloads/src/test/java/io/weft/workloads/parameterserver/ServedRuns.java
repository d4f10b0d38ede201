// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.WeftConfig;
import io.weft.testkit.job.LocalJob;
import io.weft.workloads.data.Source;
import io.weft.workloads.model.OptimizerKind;
import io.weft.workloads.model.Workload;
import io.weft.workloads.training.Observer;
import io.weft.workloads.training.Outcome;
import io.weft.workloads.training.ReadMode;
import io.weft.workloads.training.Settings;
import io.weft.workloads.training.SoloJob;
import io.weft.workloads.training.Sync;
import io.weft.workloads.training.Trainer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;

/// Small trainings with parameter servers, within one process.
final class ServedRuns {

  private ServedRuns() {}

  static Settings settings(Workload workload, int batch, float rate, Sync sync) {
    return new Settings(
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

  /// What the worker that reports brought.
  static Served served(Settings settings, Servers servers, Source source, String transport) {
    return served(settings, servers, source, Map.of("WEFT_TRANSPORT", transport));
  }

  static Served served(
      Settings settings, Servers servers, Source source, Map<String, String> variables) {
    return served(settings, servers, source, variables, Observer.SILENT);
  }

  static Served served(
      Settings settings,
      Servers servers,
      Source source,
      Map<String, String> variables,
      Observer observer) {
    Map<String, String> all = new HashMap<>(variables);
    all.putIfAbsent("WEFT_DEADLINE", "5m"); // of each step, however busy the machine is
    WeftConfig config = WeftConfig.load(all, new Properties());
    try (LocalJob job = LocalJob.start(servers.ranks(), config)) {
      List<Optional<Served>> brought =
          job.run(
              weft -> {
                try (weft) {
                  return new ServedTraining(settings, servers, source, weft, 1, observer).run();
                }
              });
      return brought.stream().flatMap(Optional::stream).findFirst().orElseThrow();
    }
  }

  /// The same on one rank that has everything.
  static Outcome alone(Settings settings, Source source) {
    return new Trainer(settings, source, new SoloJob(), Observer.SILENT).run();
  }
}
