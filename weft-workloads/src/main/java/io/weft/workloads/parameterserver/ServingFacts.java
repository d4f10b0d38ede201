// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import java.util.List;

/// What the report of a training says that has parameter servers.
///
/// @param via what carried the tensors: "weft" or "grpc"
/// @param workers at the start
/// @param servers that kept the variables
/// @param mode "async" or "sync"
/// @param backup workers for which no step waits
/// @param requestsPerStep messages in which a worker asked for tensors, mean over the steps of all
///   workers; -1 where the runtime does not tell
/// @param droppedGradients of workers' steps that came too late to count
/// @param lostWorkers indices of workers that were lost
public record ServingFacts(
    String via,
    int workers,
    int servers,
    String mode,
    int backup,
    double requestsPerStep,
    long droppedGradients,
    List<Integer> lostWorkers) {

  /// Copies the list.
  public ServingFacts {
    lostWorkers = List.copyOf(lostWorkers);
  }
}
