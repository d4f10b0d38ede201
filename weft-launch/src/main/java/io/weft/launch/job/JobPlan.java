// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import io.weft.WeftConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// What to start.
///
/// @param ranks in order of rank
/// @param command program and arguments
/// @param environment variables for all ranks, over this process's own
/// @param config settings of the job: name, secret, store
/// @param output how ranks' output is shown
/// @param outputDirectory where each rank's output is kept too, as `rank.N/stdout` and `stderr`,
///   and its exit code, as `rank.N/exit`
/// @param ssh the command that reaches other hosts, `ssh` and its options
public record JobPlan(
    List<Placement> ranks,
    List<String> command,
    Map<String, String> environment,
    WeftConfig config,
    Output output,
    Optional<Path> outputDirectory,
    List<String> ssh) {

  /// How ranks' output is shown.
  public enum Output {
    /// Each line with its rank.
    PREFIXED,
    /// Rank 0's bytes as they come, so that it can redraw lines; the other ranks' lines prefixed.
    RANK_ZERO_RAW
  }

  /// Copies the collections.
  public JobPlan {
    ranks = List.copyOf(ranks);
    command = List.copyOf(command);
    environment = Map.copyOf(environment);
    ssh = List.copyOf(ssh);
  }
}
