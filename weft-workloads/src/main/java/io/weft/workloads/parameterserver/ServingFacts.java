// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The part of a training's report that only a training with parameter servers has.
///
/// @param via the runtime that carried the model to the workers: "weft", "grpc" or "ps"
/// @param workers at the start
/// @param servers that kept the variables
/// @param mode "async" or "sync"; with tables the synchronization of the workers: "async",
///   "gradients" or "ssp:N"
/// @param backup workers for which no step waits
/// @param requestsPerStep messages in which a worker requested tensors, mean over the steps of all
///   workers; null if the runtime does not count them
/// @param lost the lost work, as fields of this object
/// @param tables counts of requests, if the model is in tables
@JsonInclude(JsonInclude.Include.NON_NULL)
public record ServingFacts(
    String via,
    int workers,
    int servers,
    String mode,
    int backup,
    @Nullable Double requestsPerStep,
    @JsonUnwrapped Lost lost,
    @JsonUnwrapped @Nullable Tables tables) {

  /// The requests of all workers to all tables.
  ///
  /// @param pushes to the tables
  /// @param pulls from the tables, including pulls ahead of their step
  /// @param staleness of the pulled values
  /// @param exposedShare the fraction of a step for communication that no computation hid and for
  ///   slower workers, in the steps that began 5 s or more after the first, if there are any; null
  ///   if unknown
  @JsonInclude(JsonInclude.Include.NON_NULL)
  public record Tables(
      long pushes, long pulls, Staleness staleness, @Nullable Double exposedShare) {}

  /// The clocks by which the slowest worker was behind a pulling worker, as measured by shards.
  ///
  /// @param max the maximum
  public record Staleness(long max) {}

  /// The work that did not count.
  ///
  /// @param droppedGradients of workers' steps that arrived too late to count
  /// @param lostWorkers indices of workers that were lost
  public record Lost(long droppedGradients, List<Integer> lostWorkers) {

    /// Copies the list.
    public Lost {
      lostWorkers = List.copyOf(lostWorkers);
    }
  }
}
