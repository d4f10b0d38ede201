// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import java.util.Locale;

/// The numbers of tasks of each kind. Servers are the first ranks; workers follow.
///
/// @param via the runtime that carries the model to the workers
/// @param workers that compute gradients, at least 1
/// @param servers that keep variables, at least 1
/// @param backup the number of workers for whose gradients a synchronous step does not wait
/// @param dense the place of layers that are not looked up row by row
public record Servers(Via via, int workers, int servers, int backup, Dense dense) {

  /// Creates the numbers with dense layers on the servers.
  public Servers(Via via, int workers, int servers, int backup) {
    this(via, workers, servers, backup, Dense.SERVERS);
  }

  /// The runtime that carries the model to the workers.
  public enum Via {
    /// Weft.
    WEFT,
    /// TensorFlow's own runtime.
    GRPC,
    /// Pushes to tables of a parameter server by keys, and pulls from them.
    PS;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /// The place of dense layers.
  public enum Dense {
    /// On the servers, like the tables.
    SERVERS,
    /// On each worker; the sums of the workers' gradients keep them equal.
    ALLREDUCE;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /// Throws `IllegalArgumentException` unless there are servers and workers that are not backup.
  public Servers {
    if (workers < 1 || servers < 1 || backup < 0 || backup >= workers) {
      throw new IllegalArgumentException(
          workers + " workers, " + backup + " of them backup, and " + servers + " servers");
    }
  }

  /// Returns the number of ranks of the job.
  public int ranks() {
    return servers + workers;
  }

  /// Returns the number of gradients for which a synchronous step waits.
  public int counted() {
    return workers - backup;
  }
}
