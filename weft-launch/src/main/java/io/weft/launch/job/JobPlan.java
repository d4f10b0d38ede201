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
/// @param dispensable ranks without which the job goes on, and of which one must end well; none: it
///   ends with the first rank that fails
/// @param restarts which ranks are started again when they are lost
/// @param program whose program the ranks are
/// @param leaving how long a rank that is needed has to end once all dispensable ones have, beyond
///   what its operations may take: it may have something to save
public record JobPlan(
    List<RankPlacement> ranks,
    List<String> command,
    Map<String, String> environment,
    WeftConfig config,
    Output output,
    Optional<Path> outputDirectory,
    List<String> ssh,
    Set<Integer> dispensable,
    Restarts restarts,
    Program program,
    Duration leaving) {

  /// Half a minute.
  private static final Duration LEAVING = Duration.ofSeconds(30);

  /// Whose program the ranks are.
  public enum Program {
    /// Weft's own: it is told all that it needs.
    WEFTS,
    /// The user's: on this host it finds this process's Java first, with the flags that Weft needs,
    /// and the user's locale.
    ANY
  }

  /// Ranks that are started again when they are lost and others go on, to join the job once more.
  ///
  /// @param ranks which
  /// @param most how often each
  public record Restarts(Set<Integer> ranks, int most) {

    /// None is.
    public static final Restarts NONE = new Restarts(Set.of(), 0);

    /// Copies the set.
    public Restarts {
      ranks = Set.copyOf(ranks);
    }
  }

  /// How ranks' output is shown.
  ///
  /// @param raw the rank whose bytes are shown as they come, so that it can redraw lines; the
  ///   others' lines have their rank in front
  public record Output(OptionalInt raw) {

    /// Each line with its rank.
    public static final Output PREFIXED = new Output(OptionalInt.empty());

    /// Rank 0's bytes as they come.
    public static final Output RANK_ZERO_RAW = raw(0);

    /// This rank's bytes as they come.
    public static Output raw(int rank) {
      return new Output(OptionalInt.of(rank));
    }

    /// Whether this rank's bytes are shown as they come.
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
    dispensable = Set.copyOf(dispensable);
  }

  /// All ranks are dispensable if the settings say that the job shrinks on failure, else none.
  public JobPlan(
      List<RankPlacement> ranks,
      List<String> command,
      Map<String, String> environment,
      WeftConfig config,
      Output output,
      Optional<Path> outputDirectory,
      List<String> ssh) {
    this(
        ranks,
        command,
        environment,
        config,
        output,
        outputDirectory,
        ssh,
        config.onFailure() == OnFailure.SHRINK
            ? ranks.stream().map(RankPlacement::rank).collect(Collectors.toUnmodifiableSet())
            : Set.of(),
        Restarts.NONE,
        Program.WEFTS,
        LEAVING);
  }

  /// The same, but it is these ranks without which it goes on.
  public JobPlan dispensingWith(Set<Integer> others) {
    return with(others, restarts, program, leaving);
  }

  /// The same, but these ranks are started again when they are lost.
  public JobPlan restarting(Restarts which) {
    return with(dispensable, which, program, leaving);
  }

  /// Returns this plan with another time for needed ranks to end in.
  public JobPlan leavingWithin(Duration time) {
    return with(dispensable, restarts, program, time);
  }

  private JobPlan with(Set<Integer> others, Restarts which, Program whose, Duration time) {
    return new JobPlan(
        ranks,
        command,
        environment,
        config,
        output,
        outputDirectory,
        ssh,
        others,
        which,
        whose,
        time);
  }

  /// Where ranks of a program of the user's look for programs on this host.
  public String path() {
    return environment.getOrDefault("PATH", RankVariables.pathOf(System.getenv()));
  }

  /// The same for a program of the user's.
  public JobPlan ofAnyProgram() {
    return with(dispensable, restarts, Program.ANY, leaving);
  }
}
