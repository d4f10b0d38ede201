// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import io.weft.WeftConfig;
import io.weft.cluster.elastic.OnFailure;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.stream.Collectors;

/// The plan of a job.
///
/// @param ranks placements in the order of ranks
/// @param command program and arguments
/// @param environment variables of all ranks, which override this process's variables
/// @param config settings of the job: name, secret, store
/// @param output the display of ranks' output, and its files
/// @param ssh the command that reaches other hosts, `ssh` and its options
/// @param losses the ranks that may be lost
/// @param program the kind of the ranks' program
public record JobPlan(
    List<RankPlacement> ranks,
    List<String> command,
    Map<String, String> environment,
    WeftConfig config,
    Output output,
    List<String> ssh,
    Losses losses,
    Program program) {

  private static final List<String> SSH = List.of("ssh");

  /// The kind of the ranks' program.
  public enum Program {
    /// A program of Weft, which receives all its settings.
    WEFTS,
    /// A program of the user. On this host its PATH begins with this process's Java, and it
    /// receives the flags that Weft needs and the user's locale.
    ANY
  }

  /// The ranks that are started again when they are lost and others continue. A restarted rank
  /// joins the job.
  ///
  /// @param ranks ranks that are started again
  /// @param most maximum number of restarts of each rank
  public record Restarts(Set<Integer> ranks, int most) {

    /// No restarts.
    public static final Restarts NONE = new Restarts(Set.of(), 0);

    /// Copies the set.
    public Restarts {
      ranks = Set.copyOf(ranks);
    }
  }

  /// The ranks that may be lost.
  ///
  /// @param dispensable ranks without which the job continues; one of them must succeed. Empty =
  ///   the job ends with the first rank that fails
  /// @param restarts ranks that are started again when they are lost
  /// @param leaving time for a needed rank to end after all dispensable ones, in addition to the
  ///   deadline of its operations; it may have to save data
  public record Losses(Set<Integer> dispensable, Restarts restarts, Duration leaving) {

    /// The default of `leaving`.
    private static final Duration LEAVING = Duration.ofSeconds(30);

    /// Copies the set.
    public Losses {
      dispensable = Set.copyOf(dispensable);
    }
  }

  /// The display of ranks' output.
  ///
  /// @param raw the rank whose bytes are displayed unchanged, so that it can redraw lines; the
  ///   lines of other ranks are prefixed with their rank
  /// @param directory directory in which each rank's output is also kept, as `rank.N/stdout` and
  ///   `stderr`, and its exit code, as `rank.N/exit`
  public record Output(OptionalInt raw, Optional<Path> directory) {

    /// Each line is prefixed with its rank.
    public static final Output PREFIXED = new Output(OptionalInt.empty(), Optional.empty());

    /// Rank 0's bytes are displayed unchanged.
    public static final Output RANK_ZERO_RAW = raw(0);

    /// Returns the display in which this rank's bytes are unchanged.
    public static Output raw(int rank) {
      return new Output(OptionalInt.of(rank), Optional.empty());
    }

    /// Returns this display, with files in a directory.
    public Output in(Path directory) {
      return new Output(raw, Optional.of(directory));
    }

    /// Returns true if this rank's bytes are displayed unchanged.
    boolean isRaw(int rank) {
      return raw.isPresent() && raw.getAsInt() == rank;
    }
  }

  /// Copies the collections.
  public JobPlan {
    ranks = List.copyOf(ranks);
    command = List.copyOf(command);
    environment = Map.copyOf(environment);
    ssh = List.copyOf(ssh);
  }

  /// Creates a plan in which all ranks are dispensable if the settings say that the job shrinks on
  /// failure, and none otherwise. Other hosts are reached by `ssh`.
  public JobPlan(
      List<RankPlacement> ranks,
      List<String> command,
      Map<String, String> environment,
      WeftConfig config,
      Output output) {
    Set<Integer> dispensable =
        config.onFailure() == OnFailure.SHRINK
            ? ranks.stream().map(RankPlacement::rank).collect(Collectors.toUnmodifiableSet())
            : Set.of();
    Losses losses = new Losses(dispensable, Restarts.NONE, Losses.LEAVING);
    this(ranks, command, environment, config, output, SSH, losses, Program.WEFTS);
  }

  /// Returns this plan with another command that reaches other hosts.
  public JobPlan reachedBy(List<String> command) {
    return new JobPlan(ranks, this.command, environment, config, output, command, losses, program);
  }

  /// Returns this plan with other dispensable ranks.
  public JobPlan dispensingWith(Set<Integer> others) {
    return with(new Losses(others, losses.restarts, losses.leaving), program);
  }

  /// Returns this plan with other restarts.
  public JobPlan restarting(Restarts which) {
    return with(new Losses(losses.dispensable, which, losses.leaving), program);
  }

  /// Returns this plan with another time for needed ranks to end.
  public JobPlan leavingWithin(Duration time) {
    return with(new Losses(losses.dispensable, losses.restarts, time), program);
  }

  private JobPlan with(Losses which, Program whose) {
    return new JobPlan(ranks, command, environment, config, output, ssh, which, whose);
  }

  /// Returns the PATH on this host of ranks with a user's program.
  public String path() {
    return environment.getOrDefault("PATH", RankVariables.pathOf(System.getenv()));
  }

  /// Returns this plan for a program of the user.
  public JobPlan ofAnyProgram() {
    return with(losses, Program.ANY);
  }
}
