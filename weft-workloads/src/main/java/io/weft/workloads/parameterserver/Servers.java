// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import java.util.Locale;

/// How many tasks do what. Servers are the first ranks, workers those behind them.
///
/// @param via how the model gets to the workers
/// @param workers that compute gradients, at least 1
/// @param servers that keep variables, at least 1
/// @param backup of the workers, in synchronous training: a step waits for the gradients of the
///   others only
/// @param dense where the gradients of layers go that are not looked up row by row
public record Servers(Via via, int workers, int servers, int backup, Dense dense) {

  /// With dense layers on the servers too.
  public Servers(Via via, int workers, int servers, int backup) {
    this(via, workers, servers, backup, Dense.SERVERS);
  }

  /// How the model gets to the workers.
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

  /// Where dense layers are.
  public enum Dense {
    /// On the servers, as the tables are.
    SERVERS,
    /// On each worker; the sums of the workers' gradients keep them equal.
    ALLREDUCE;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /// Throws `IllegalArgumentException` unless there are servers, and workers that count.
  public Servers {
    if (workers < 1 || servers < 1 || backup < 0 || backup >= workers) {
      throw new IllegalArgumentException(
          workers + " workers, " + backup + " of them backup, and " + servers + " servers");
    }
  }

  /// Ranks of the job.
  public int ranks() {
    return servers + workers;
  }

  /// Gradients that a synchronous step waits for.
  public int counted() {
    return workers - backup;
  }
}
