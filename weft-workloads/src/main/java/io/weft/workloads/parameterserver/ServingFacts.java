// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// What the report of a training says that has parameter servers.
///
/// @param via how the model got to the workers: "weft", "grpc" or "ps"
/// @param workers at the start
/// @param servers that kept the variables
/// @param mode "async" or "sync"; of tables how the workers stay together: "async", "gradients" or
///   "ssp:N"
/// @param backup workers for which no step waits
/// @param requestsPerStep messages in which a worker asked for tensors, mean over the steps of all
///   workers; null where the runtime does not tell
/// @param droppedGradients of workers' steps that came too late to count
/// @param lostWorkers indices of workers that were lost
/// @param tables where the model is in tables
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ServingFacts(
    String via,
    int workers,
    int servers,
    String mode,
    int backup,
    @Nullable Double requestsPerStep,
    long droppedGradients,
    List<Integer> lostWorkers,
    @JsonUnwrapped @Nullable Tables tables) {

  /// Of all workers and tables.
  ///
  /// @param pushes to them
  /// @param pulls from them, those ahead of their step included
  /// @param staleness of what was pulled
  public record Tables(long pushes, long pulls, Staleness staleness) {}

  /// By how many clocks the slowest worker was behind one that pulled, as shards have measured it.
  ///
  /// @param max the most
  public record Staleness(long max) {}

  /// Without tables.
  public ServingFacts(
      String via,
      int workers,
      int servers,
      String mode,
      int backup,
      @Nullable Double requestsPerStep,
      long droppedGradients,
      List<Integer> lostWorkers) {
    this(via, workers, servers, mode, backup, requestsPerStep, droppedGradients, lostWorkers, null);
  }

  /// Copies the list.
  public ServingFacts {
    lostWorkers = List.copyOf(lostWorkers);
  }
}
