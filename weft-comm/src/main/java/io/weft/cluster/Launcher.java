// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.CommException;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/// The launchers whose variables are known, in order of detection. Pure.
enum Launcher {
  /// `weft run` and `weft train`, and whoever sets the same variables.
  WEFT("weft") {
    @Override
    boolean started(Variables variables) {
      // A size alone is no sign: Kubernetes users set it, because their launcher does not.
      return variables.has("WEFT_RANK");
    }

    @Override
    LaunchEnvironment read(Variables variables) {
      Ranks ranks =
          ranks(variables, "WEFT_RANK", "WEFT_SIZE", "WEFT_LOCAL_RANK", "WEFT_LOCAL_SIZE");
      Optional<HostAndPort> given = variables.hostAndPort(STORE);
      StoreLocation store;
      if (given.isPresent() && variables.has("WEFT_LAUNCHER")) {
        store = new StoreLocation.Hosted(given.get().host(), given.get().port());
      } else {
        store = store(variables, ranks, Optional.empty());
      }
      return environment(ranks, variables.text(JOB), store);
    }
  },

  /// `mpirun` of Open MPI; PMIx names the job.
  OPEN_MPI("Open MPI") {
    @Override
    boolean started(Variables variables) {
      return variables.has("OMPI_COMM_WORLD_RANK") || variables.has("OMPI_COMM_WORLD_SIZE");
    }

    @Override
    LaunchEnvironment read(Variables variables) {
      Ranks ranks =
          ranks(
              variables,
              "OMPI_COMM_WORLD_RANK",
              "OMPI_COMM_WORLD_SIZE",
              "OMPI_COMM_WORLD_LOCAL_RANK",
              "OMPI_COMM_WORLD_LOCAL_SIZE");
      Optional<String> job =
          variables.text(JOB).or(() -> variables.text("PMIX_NAMESPACE").map(n -> "pmix-" + n));
      return environment(ranks, job, store(variables, ranks, Optional.empty()));
    }
  },

  /// Hydra, the launcher of MPICH, Intel MPI and MVAPICH.
  MPICH("MPICH") {
    @Override
    boolean started(Variables variables) {
      // Slurm sets PMI_RANK too, with its own PMI; its variables say more.
      return variables.has("PMI_RANK") && !variables.has("SLURM_STEP_ID");
    }

    @Override
    LaunchEnvironment read(Variables variables) {
      Ranks ranks = ranks(variables, "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS");
      return environment(ranks, variables.text(JOB), store(variables, ranks, Optional.empty()));
    }
  },

  /// `srun`; a step's variables only, because those of `sbatch` leak into every process.
  SLURM("Slurm") {
    @Override
    boolean started(Variables variables) {
      return variables.has("SLURM_PROCID") && variables.has("SLURM_STEP_ID");
    }

    @Override
    LaunchEnvironment read(Variables variables) {
      String sizeName =
          variables.has("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS";
      Ranks ranks = ranks(variables, "SLURM_PROCID", sizeName, "SLURM_LOCALID", "");
      List<String> hosts = hosts(variables);
      String job =
          "slurm-"
              + variables.text("SLURM_JOB_ID").or(() -> variables.text("SLURM_JOBID")).orElse("0")
              + "."
              + variables.text("SLURM_STEP_ID").orElse("0");
      StoreLocation store;
      if (variables.has(STORE)) {
        store = store(variables, ranks, Optional.empty());
      } else if (hosts.size() == 1) {
        store = new StoreLocation.LocalDirectory();
      } else {
        store = new StoreLocation.ByRankZero(hosts.getFirst(), port(job));
      }
      return environment(ranks, variables.text(JOB).or(() -> Optional.of(job)), store);
    }

    private static List<String> hosts(Variables variables) {
      for (String name : List.of("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST")) {
        Optional<String> list = variables.text(name);
        if (list.isPresent()) {
          return SlurmHosts.expand(list.get(), name);
        }
      }
      throw new CommException.Setup(
          "Slurm started this process but SLURM_STEP_NODELIST is not set; set WEFT_STORE to"
              + " HOST:PORT of rank 0",
          null);
    }
  },

  /// An indexed job; its size is not in the environment, so the pod's template sets `WEFT_SIZE` to
  /// the job's `completions`, and `WEFT_STORE` to rank 0's name in the headless service.
  KUBERNETES("Kubernetes") {
    @Override
    boolean started(Variables variables) {
      // Operators that speak torchrun's variables run indexed jobs too.
      return variables.has("JOB_COMPLETION_INDEX")
          && (variables.has("WEFT_SIZE") || !variables.has("WORLD_SIZE"));
    }

    @Override
    LaunchEnvironment read(Variables variables) {
      Ranks ranks = ranks(variables, "JOB_COMPLETION_INDEX", "WEFT_SIZE", "", "");
      return environment(ranks, variables.text(JOB), store(variables, ranks, Optional.empty()));
    }
  },

  /// torchrun, and other launchers that speak its variables.
  TORCHRUN("torchrun") {
    @Override
    boolean started(Variables variables) {
      return variables.has("RANK") && variables.has("WORLD_SIZE");
    }

    @Override
    LaunchEnvironment read(Variables variables) {
      Ranks ranks = ranks(variables, "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE");
      Optional<HostAndPort> master = Optional.empty();
      if (variables.has("MASTER_ADDR") && variables.has("MASTER_PORT")) {
        // torchrun keeps a store of its own at MASTER_PORT: ours is one above.
        OptionalInt port =
            variables.within("MASTER_PORT", 1, 65534, "the next port is the store's");
        master =
            Optional.of(
                new HostAndPort(
                    variables.text("MASTER_ADDR").orElseThrow(), port.orElseThrow() + 1));
      }
      Optional<String> job =
          variables
              .text(JOB)
              .or(() -> variables.text("TORCHELASTIC_RUN_ID").map(i -> "torch-" + i));
      return environment(ranks, job, store(variables, ranks, master));
    }
  };

  /// Rank and sizes as the launcher's own variables gave them.
  private record Ranks(int rank, int size, OptionalInt localRank, OptionalInt localSize) {}

  private static final String STORE = "WEFT_STORE";
  private static final String JOB = "WEFT_JOB";
  private static final int FIRST_PORT = 29_400;
  private static final int PORTS = 2_000;

  private final String label;

  Launcher(String label) {
    this.label = label;
  }

  /// Whether its variables are there.
  abstract boolean started(Variables variables);

  /// Reads them; throws `CommException.Setup` naming the one that is wrong.
  abstract LaunchEnvironment read(Variables variables);

  /// A port below the range that systems give out by themselves, the same for the same job.
  static int port(String job) {
    return FIRST_PORT + Math.floorMod(job.hashCode(), PORTS);
  }

  /// An empty name stands for a variable that this launcher does not have.
  Ranks ranks(Variables variables, String rank, String size, String localRank, String localSize) {
    int ranks = variables.size(size, label);
    int own = variables.rank(rank, ranks, size, label);
    OptionalInt local = variables.within(localSize, 1, ranks, size + " is " + ranks);
    OptionalInt position =
        variables.within(
            localRank,
            0,
            local.orElse(ranks) - 1,
            local.isPresent() ? localSize + " is " + local.getAsInt() : size + " is " + ranks);
    return new Ranks(own, ranks, position, local);
  }

  /// WEFT_STORE, else `known`, else a directory where all ranks are on this host.
  StoreLocation store(Variables variables, Ranks ranks, Optional<HostAndPort> known) {
    Optional<HostAndPort> given = variables.hostAndPort(STORE);
    if (given.isPresent()) {
      return new StoreLocation.ByRankZero(given.get().host(), given.get().port());
    }
    if (ranks.size() == 1) {
      return new StoreLocation.InProcess();
    }
    if (ranks.localSize().isPresent() && ranks.localSize().getAsInt() == ranks.size()) {
      return new StoreLocation.LocalDirectory();
    }
    if (known.isPresent()) {
      return new StoreLocation.ByRankZero(known.get().host(), known.get().port());
    }
    throw new CommException.Setup(
        label
            + " started "
            + ranks.size()
            + " ranks and does not say that all are on this host; set WEFT_STORE to HOST:PORT,"
            + " an address of rank 0's host with a free port, on all ranks",
        null);
  }

  LaunchEnvironment environment(Ranks ranks, Optional<String> job, StoreLocation store) {
    return new LaunchEnvironment(
        label, ranks.rank(), ranks.size(), ranks.localRank(), ranks.localSize(), job, store);
  }
}
