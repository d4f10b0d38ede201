// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.StoreLocation;
import io.weft.comm.CommException;
import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.cluster.TfConfig;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/// The task of a training with parameter servers that `TF_CONFIG` assigns to this process, so that
/// a launcher of TensorFlow clusters can start Weft's ranks. Servers are the tasks of job `ps`,
/// workers the tasks of job `worker`. All ranks meet at the address of the first server, whose port
/// nothing else uses.
///
/// @param config the variable's value
record ConfiguredTask(TfConfig config) {

  private static final String SERVERS = "ps";
  private static final String WORKERS = "worker";

  /// Throws `CommException.Setup` if the cluster has other jobs or missing indices.
  ConfiguredTask {
    ClusterSpec cluster = config.cluster();
    for (String job : List.of(SERVERS, WORKERS)) {
      List<Task> tasks = cluster.tasks(job);
      if (tasks.isEmpty() || tasks.getLast().index() != tasks.size() - 1) {
        throw refused("cluster must have tasks 0 to n-1 of job " + job + "; it has " + cluster);
      }
    }
    if (cluster.tasks(SERVERS).size() + cluster.tasks(WORKERS).size() < cluster.tasks().size()) {
      throw refused("cluster must have only the jobs ps and worker; it has " + cluster);
    }
  }

  /// Returns the task in the environment. A launcher's own variables take precedence, and the
  /// result is then empty. Throws `CommException.Setup`.
  static Optional<ConfiguredTask> read(Map<String, String> environment) {
    return LaunchEnvironment.detect(environment).launched()
        ? Optional.empty()
        : TfConfig.read(environment).map(ConfiguredTask::new);
  }

  int servers() {
    return config.cluster().tasks(SERVERS).size();
  }

  int workers() {
    return config.cluster().tasks(WORKERS).size();
  }

  /// Returns the rank of the task: its position in the order of tasks.
  int rank() {
    return config.cluster().tasks().indexOf(config.task());
  }

  /// Returns the variables that a launcher would have set for this process.
  LaunchEnvironment launch(Map<String, String> environment) {
    Task first = config.cluster().tasks().getFirst();
    String store = environment.getOrDefault("WEFT_STORE", config.cluster().address(first));
    return new LaunchEnvironment(
        TfConfig.VARIABLE,
        rank(),
        config.cluster().tasks().size(),
        OptionalInt.empty(),
        OptionalInt.empty(),
        Optional.ofNullable(environment.get("WEFT_JOB")),
        StoreLocation.byRankZero(store));
  }

  private static CommException.Setup refused(String what) {
    return new CommException.Setup(TfConfig.VARIABLE + ": " + what, null);
  }
}
