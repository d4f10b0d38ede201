// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.Weft;
import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.Task;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.function.Function;

/// A runtime other than Weft that carries the tensors of a training with parameter servers, to
/// compare with; found with the service loader by its name.
public interface GraphRuntime {

  /// As `--via` has it.
  String name();

  /// Starts the task of this rank. All ranks of the job call it with the same layout.
  ///
  /// @param weft the job; borrowed
  /// @param task of this rank
  /// @param cluster the tasks where the ranks listen, by rank: `HOST:PORT` each
  /// @param threads that share the computation of a node, at least 1
  GraphSession.Opener start(
      Weft weft, Task task, Function<List<String>, ClusterSpec> cluster, int threads)
      throws InterruptedException;

  /// The runtime of `via`, if it is on the class path.
  static Optional<GraphRuntime> find(Servers.Via via) {
    return ServiceLoader.load(GraphRuntime.class).stream()
        .map(ServiceLoader.Provider::get)
        .filter(runtime -> runtime.name().equals(via.toString()))
        .findFirst();
  }
}
