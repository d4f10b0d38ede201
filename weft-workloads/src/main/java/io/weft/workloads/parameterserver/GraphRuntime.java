// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.Weft;
import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.Task;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Function;

/// A runtime other than Weft that carries the tensors of a training with parameter servers, for
/// comparison. The service loader finds it by its name.
public interface GraphRuntime {

  /// Returns the value of `--via`.
  String name();

  /// Starts the task of this rank. All ranks of the job call it with the same layout.
  ///
  /// @param weft the job; borrowed
  /// @param task of this rank
  /// @param cluster the cluster of tasks at the listening addresses `HOST:PORT`, by rank
  /// @param threads that share the computation of a node, at least 1
  GraphSession.Opener start(
      Weft weft, Task task, Function<List<String>, ClusterSpec> cluster, int threads)
      throws InterruptedException;

  /// Returns the runtime of `via`, if it is on the class path.
  static Optional<GraphRuntime> find(Servers.Via via) {
    return ServiceLoader.load(GraphRuntime.class).stream()
        .map(ServiceLoader.Provider::get)
        .filter(runtime -> runtime.name().equals(via.toString()))
        .findFirst();
  }
}
