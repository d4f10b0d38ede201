// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import io.weft.workloads.data.DataSource;
import io.weft.workloads.parameterserver.Servers;
import io.weft.workloads.training.TrainingSettings;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalInt;

/// A whole command line, checked.
///
/// @param settings of the training
/// @param servers that keep the variables, and workers beside them; empty: every rank has them all
/// @param task which of them this process is, where no launcher says so
/// @param source of its data
/// @param transport "auto" or a scheme; empty = not said here
/// @param threads that compute on each rank; empty: its share of the host's cores
/// @param plot picture to draw
/// @param json report to write
/// @param timeline directory where each rank leaves its timeline; empty = not said here
/// @param autotuneLog samples of an autotuner, to write
record TrainOptions(
    TrainingSettings settings,
    Optional<Servers> servers,
    Optional<ConfiguredTask> task,
    DataSource source,
    Optional<String> transport,
    OptionalInt threads,
    Optional<Path> plot,
    Optional<Path> json,
    Optional<Path> timeline,
    Optional<Path> autotuneLog) {}
