// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.keyvalue;

import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.kv.KeyValue;
import io.weft.kv.KvOptions;
import io.weft.workloads.data.DataSource;
import io.weft.workloads.parameterserver.ServedResult;
import io.weft.workloads.parameterserver.Servers;
import io.weft.workloads.training.TrainingObserver;
import io.weft.workloads.training.TrainingSettings;
import java.time.Duration;
import java.util.Optional;

/// One rank of a training whose model is in tables of a parameter server. All ranks of the job call
/// `run` with equal settings. Confined to one thread.
///
/// @param settings of the training
/// @param servers the numbers of servers and workers
/// @param source of the data, which each worker reads
/// @param weft the job; borrowed
/// @param threads that share the computation of a node, at least 1
/// @param observer notified of the first worker's progress
public record KeyValueTraining(
    TrainingSettings settings,
    Servers servers,
    DataSource source,
    Weft weft,
    int threads,
    TrainingObserver observer) {

  /// The time for which a server serves at most.
  private static final Duration SERVING = Duration.ofDays(365);

  /// Serves until all workers have left, or trains. Only the first worker returns the result.
  ///
  /// Throws `CommException.Setup` if the job does not have one rank for each server and worker,
  /// `CommException` if a rank is lost, `DataException` and `TrainingException`.
  public Optional<ServedResult> run() throws InterruptedException {
    if (weft.size() != servers.ranks()) {
      throw new CommException.Setup(
          "%d servers and %d workers are %d ranks, but the job has %d; start one rank for each"
              .formatted(servers.servers(), servers.workers(), servers.ranks(), weft.size()),
          null);
    }
    try (KeyValue member = KeyValue.over(weft, KvOptions.servers(servers.servers()))) {
      if (member.server().isPresent()) {
        member.server().get().join(SERVING);
        return Optional.empty();
      }
      return new KeyValueWorker(this, member.store()).run();
    }
  }
}
