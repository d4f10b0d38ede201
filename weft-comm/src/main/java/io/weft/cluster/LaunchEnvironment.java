// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.comm.CommException;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;

/// The facts that the launcher passed to this process, independent of the launcher.
///
/// @param launcher for people: "weft", "Open MPI", "MPICH", "Slurm", "Kubernetes", "torchrun",
///   "none"
/// @param rank world rank, 0 to size-1
/// @param size ranks in the job, at least 1
/// @param localRank position among this host's ranks, if the launcher provides it
/// @param localSize ranks on this host, if the launcher provides it
/// @param job the launcher's name of the job, equal on all its ranks; empty if it has none
/// @param store the store in which ranks find each other
public record LaunchEnvironment(
    String launcher,
    int rank,
    int size,
    OptionalInt localRank,
    OptionalInt localSize,
    Optional<String> job,
    StoreLocation store) {

  /// Throws `CommException.Setup` if the rank is not below the size.
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

  /// Reads an environment. Pure. It recognizes, in this order, Weft's variables, Open MPI, Slurm,
  /// MPICH (Hydra), Kubernetes indexed jobs and torchrun; without any of them, the job has one
  /// rank. If several launchers set variables that disagree, the innermost launcher counts if it
  /// states more ranks, or is Open MPI inside Slurm or torchrun's agent. Throws
  /// `CommException.Setup` naming the variable, its value and the allowed values, or both
  /// launchers.
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

  /// Returns the environment for another job that this process starts. It lacks the variables that
  /// make this process a rank, the address of its job's store and the secret that its launcher gave
  /// it. Pure.
  public static Map<String, String> outside(Map<String, String> environment) {
    return Launcher.outside(environment);
  }

  /// Returns whether a launcher started this process as a rank.
  public boolean launched() {
    return !launcher.equals("none");
  }
}
