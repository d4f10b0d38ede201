// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import io.weft.workloads.data.DataSource;
import io.weft.workloads.parameterserver.Servers;
import io.weft.workloads.training.TrainingSettings;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;

/// A complete and checked command line.
///
/// @param settings of the training
/// @param batchPerRank the examples of each rank or worker in a step, whose sum over all is the
///   batch of the settings; empty if not given
/// @param servers the numbers of servers and workers; empty if every rank has all variables
/// @param task of this process, if `TF_CONFIG` assigns it
/// @param source of its data
/// @param transport "auto" or a scheme; empty if not given
/// @param threads that compute on each rank; if empty, its share of the host's cores
/// @param outputs the files to write
record TrainOptions(
    TrainingSettings settings,
    OptionalInt batchPerRank,
    Optional<Servers> servers,
    Optional<ConfiguredTask> task,
    DataSource source,
    Optional<String> transport,
    OptionalInt threads,
    Outputs outputs) {

  /// The files that a training writes. Each is empty if not given.
  ///
  /// @param plot to draw
  /// @param json report to write
  /// @param timeline directory in which each rank writes its timeline
  /// @param autotuneLog file for the samples of an autotuner
  record Outputs(
      Optional<Path> plot,
      Optional<Path> json,
      Optional<Path> timeline,
      Optional<Path> autotuneLog) {}

  /// Returns these options in a job of this number of ranks, which determines the batch if it is
  /// given for each rank, and a learning rate that scales with the ranks.
  TrainOptions of(int ranks) {
    if (batchPerRank.isEmpty()) {
      return this;
    }
    int training = servers.map(Servers::workers).orElse(ranks);
    TrainingSettings all =
        settings.withBatch(Math.multiplyExact(batchPerRank.getAsInt(), training));
    return new TrainOptions(
        all.scaling().map(how -> all.with(how.in(training))).orElse(all),
        batchPerRank,
        servers,
        task,
        source,
        transport,
        threads,
        outputs);
  }
}
