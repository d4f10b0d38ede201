// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.comm.CommException;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/// What the launcher told this process, whichever launcher it was.
///
/// @param launcher for people: "weft", "Open MPI", "MPICH", "Slurm", "Kubernetes", "torchrun",
///   "none"
/// @param rank world rank, 0 to size-1
/// @param size ranks in the job, at least 1
/// @param localRank position among this host's ranks, where the launcher says so
/// @param localSize ranks on this host, where the launcher says so
/// @param job the launcher's name of the job, the same on all its ranks; empty where it has none
/// @param store where ranks find each other
public record LaunchEnvironment(
    String launcher,
    int rank,
    int size,
    OptionalInt localRank,
    OptionalInt localSize,
    Optional<String> job,
    StoreLocation store) {

  /// Throws `CommException.Setup` where a rank is not below its size.
  public LaunchEnvironment {
    Objects.requireNonNull(launcher, "launcher");
    Objects.requireNonNull(localRank, "localRank");
    Objects.requireNonNull(localSize, "localSize");
    Objects.requireNonNull(job, "job");
    Objects.requireNonNull(store, "store");
    if (size < 1 || rank < 0 || rank >= size) {
      throw new CommException.Setup(
          launcher + " says rank " + rank + " of " + size + "; a rank is from 0 to size-1", null);
    }
  }

  /// Reads an environment. Pure. In this order: Weft's own variables, Open MPI, Slurm, MPICH
  /// (Hydra), Kubernetes indexed jobs, torchrun; else a job of one rank. Where several are there
  /// and disagree, the innermost counts if it speaks of more ranks. Throws `CommException.Setup`
  /// naming the variable, its value and what is allowed, or both launchers.
  public static LaunchEnvironment detect(Map<String, String> environment) {
    var variables = new Variables(environment);
    Optional<Launcher> launcher = Launcher.of(variables);
    if (launcher.isPresent()) {
      return launcher.get().read(variables);
    }
    if (variables.number("WEFT_SIZE").orElse(1) != 1) {
      throw new CommException.Setup(
          "WEFT_SIZE is "
              + variables.text("WEFT_SIZE").orElseThrow()
              + " but WEFT_RANK is not set, and no launcher that Weft knows set a rank",
          null);
    }
    return new LaunchEnvironment(
        "none",
        0,
        1,
        OptionalInt.of(0),
        OptionalInt.of(1),
        variables.text("WEFT_JOB"),
        new StoreLocation.InProcess());
  }

  /// The environment for another job that a process of this one starts: without what makes this
  /// process a rank, where its job meets, and the secret that its launcher gave it. Pure.
  public static Map<String, String> outside(Map<String, String> environment) {
    return Launcher.outside(environment);
  }

  /// Whether a launcher started this process as a rank.
  public boolean launched() {
    return !launcher.equals("none");
  }
}
