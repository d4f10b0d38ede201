// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.agent.Ticker;
import io.weft.cluster.Topology;
import java.util.Objects;
import java.util.Optional;
import java.util.function.IntToLongFunction;

/// The facts about a rank that is connected to its peers and runs no operation yet.
///
/// @param config the rank's settings
/// @param job the job's name
/// @param topology the members of the job
/// @param rank the rank, an index into `topology`
/// @param clock the progress thread's clock
/// @param lastHeard returns the time of a peer's last sign of life, by the progress thread's clock;
///   for the progress thread only
/// @param launcher the launcher's store, if the launcher cannot read files of this rank
public record JoiningRank(
    WeftConfig config,
    String job,
    Topology topology,
    int rank,
    Ticker clock,
    IntToLongFunction lastHeard,
    Optional<LauncherStore> launcher) {

  /// Throws `NullPointerException` if a component is null.
  public JoiningRank {
    Objects.requireNonNull(config, "config");
    Objects.requireNonNull(job, "job");
    Objects.requireNonNull(topology, "topology");
    Objects.requireNonNull(clock, "clock");
    Objects.requireNonNull(lastHeard, "lastHeard");
    Objects.requireNonNull(launcher, "launcher");
  }
}
