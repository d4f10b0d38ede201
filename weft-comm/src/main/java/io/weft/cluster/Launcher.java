// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import io.weft.comm.CommException;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// The launchers whose variables are known, in order of detection. Pure.
enum Launcher {
  /// `weft run`, `weft train`, and other launchers that set the same variables.
  WEFT("weft", 5, "WEFT_(RANK|SIZE|(LOCAL|CROSS)_(RANK|SIZE)|LAUNCHER(_PID)?)") {
    @Override
    boolean started(Variables variables) {
      // A size alone does not indicate this launcher, because Kubernetes users also set it.
      return variables.has("WEFT_RANK");
    }

    @Override
    List<String> names(Variables variables) {
      return List.of("WEFT_RANK", "WEFT_SIZE");
    }

    @Override
    LaunchEnvironment read(Variables variables) {
      Ranks ranks = ranks(variables, "WEFT_LOCAL_RANK", "WEFT_LOCAL_SIZE");
      Optional<String> job = variables.text(JOB);
      Optional<HostAndPort> given = variables.hostAndPort(STORE);
      StoreLocation store;
      if (given.isPresent() && variables.has("WEFT_LAUNCHER")) {
        store = new StoreLocation.Hosted(given.get().host(), given.get().port());
      } else {
        store = store(variables, ranks, job, Optional.empty());
      }
      return environment(ranks, job, store);
    }
  },

  /// `mpirun` of Open MPI. PMIx provides the name of the job.
  OPEN_MPI("Open MPI", 3, "OMPI_(COMM_WORLD_.*|UNIVERSE_SIZE)|PMIX_(?!MCA_).*") {
    @Override
    boolean started(Variables variables) {
      return variables.has("OMPI_COMM_WORLD_RANK") || variables.has("OMPI_COMM_WORLD_SIZE");
    }

    @Override
    List<String> names(Variables variables) {
      return List.of("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
    }

    @Override
    LaunchEnvironment read(Variables variables) {
      Ranks ranks = ranks(variables, "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE");
      Optional<String> job = variables.text("PMIX_NAMESPACE").map(n -> "pmix-" + n);
      return environment(ranks, job, store(variables, ranks, job, Optional.empty()));
    }
  },

  /// `srun`. Only a step's variables count, because those of `sbatch` leak into every process.
  SLURM("Slurm", 1, "SLURM_(PROCID|LOCALID|NODEID|GTIDS|TASK_PID|STEPID|STEP_.*|SRUN_.*)") {
    @Override
    boolean started(Variables variables) {
      return variables.has("SLURM_STEP_ID")
          && (variables.has("SLURM_PROCID") || variables.has("SLURM_STEP_NUM_TASKS"));
    }

    @Override
    List<String> names(Variables variables) {
      String size = variables.has("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS";
      return List.of("SLURM_PROCID", size);
    }

    @Override
    LaunchEnvironment read(Variables variables) {
      Ranks ranks = ranks(variables, "SLURM_LOCALID", "");
      List<String> hosts = hosts(variables);
      String job =
          "slurm-"
              + variables.text("SLURM_JOB_ID").or(() -> variables.text("SLURM_JOBID")).orElse("0")
              + "."
              + variables.text("SLURM_STEP_ID").orElse("0");
      StoreLocation store;
      if (variables.has(STORE)) {
        store = store(variables, ranks, Optional.of(job), Optional.empty());
      } else if (hosts.size() == 1) {
        store = new StoreLocation.LocalDirectory();
      } else {
        store = new StoreLocation.ByRankZero(hosts.getFirst(), port(job));
      }
      return environment(ranks, Optional.of(job), store);
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

  /// Hydra, the launcher of MPICH, Intel MPI and MVAPICH. Slurm also sets these variables for its
  /// steps; if both agree, Slurm's variables are used, because they provide more.
  MPICH("MPICH", 2, "PMI_.*|MPI_LOCALRANKID|MPI_LOCALNRANKS") {
    @Override
    boolean started(Variables variables) {
      boolean whole = variables.has("PMI_RANK") && variables.has("PMI_SIZE");
      boolean half = variables.has("PMI_RANK") || variables.has("PMI_SIZE");
      return whole || (half && !variables.has("SLURM_STEP_ID"));
    }

    @Override
    List<String> names(Variables variables) {
      return List.of("PMI_RANK", "PMI_SIZE");
    }

    @Override
    LaunchEnvironment read(Variables variables) {
      Ranks ranks = ranks(variables, "MPI_LOCALRANKID", "MPI_LOCALNRANKS");
      Optional<String> job = Optional.empty();
      return environment(ranks, job, store(variables, ranks, job, Optional.empty()));
    }
  },

  /// A Kubernetes indexed job. The environment lacks the size, so the pod's template sets
  /// `WEFT_SIZE` to the job's `completions`, and `WEFT_STORE` to rank 0's name in the headless
  /// service.
  KUBERNETES("Kubernetes", 0, "JOB_COMPLETION_INDEX|WEFT_SIZE") {
    @Override
    boolean started(Variables variables) {
      // Operators that set torchrun's variables also run indexed jobs. If the user sets WEFT_RANK,
      // WEFT_SIZE is the size of the user's ranks.
      return variables.has("JOB_COMPLETION_INDEX")
          && !variables.has("WEFT_RANK")
          && (variables.has("WEFT_SIZE") || !variables.has("WORLD_SIZE"));
    }

    @Override
    List<String> names(Variables variables) {
      return List.of("JOB_COMPLETION_INDEX", "WEFT_SIZE");
    }

    @Override
    LaunchEnvironment read(Variables variables) {
      Ranks ranks = ranks(variables, "", "");
      Optional<String> job = variables.text(JOB);
      return environment(ranks, job, store(variables, ranks, job, Optional.empty()));
    }
  },

  /// torchrun, and other launchers that set its variables.
  TORCHRUN(
      "torchrun",
      4,
      "((LOCAL|GROUP|ROLE)_)?RANK|((LOCAL|GROUP|ROLE)_)?WORLD_SIZE|ROLE_NAME|MASTER_(ADDR|PORT)|TORCHELASTIC_.*") {
    @Override
    boolean started(Variables variables) {
      return variables.has("RANK") || variables.has("WORLD_SIZE");
    }

    @Override
    List<String> names(Variables variables) {
      return List.of("RANK", "WORLD_SIZE");
    }

    @Override
    LaunchEnvironment read(Variables variables) {
      Ranks ranks = ranks(variables, "LOCAL_RANK", "LOCAL_WORLD_SIZE");
      Optional<HostAndPort> master = Optional.empty();
      if (variables.has("MASTER_ADDR") && variables.has("MASTER_PORT")) {
        // torchrun's store uses MASTER_PORT, so Weft's store uses the next port.
        OptionalInt port =
            variables.within("MASTER_PORT", 1, 65534, "the next port is the store's");
        master =
            Optional.of(
                new HostAndPort(
                    variables.text("MASTER_ADDR").orElseThrow(), port.orElseThrow() + 1));
      }
      Optional<String> id = variables.text(RUN_ID).filter(i -> !i.equals(DEFAULT_RUN_ID));
      Optional<String> agent = ranks.areLocal() ? agent(variables) : Optional.empty();
      if (ranks.areLocal()
          && ranks.size() > 1
          && id.isEmpty()
          && agent.isEmpty()
          && master.isEmpty()
          && !variables.has(JOB)
          && !variables.has(STORE)) {
        throw new CommException.Setup(
            "RANK and WORLD_SIZE say that this is a rank, but without MASTER_ADDR and MASTER_PORT,"
                + " and without a unique "
                + RUN_ID
                + ", nothing distinguishes its job from another one that is started from"
                + " the same shell; set WEFT_JOB to a name of the job, on all ranks",
            null);
      }
      String name =
          "torch-"
              + id.orElse(DEFAULT_RUN_ID)
              + master.map(at -> "@" + at.host() + ":" + at.port()).orElse("")
              + agent.map(a -> "#" + a).orElse("");
      Optional<String> own = id.or(() -> agent).map(told -> name);
      return environment(ranks, Optional.of(name), store(variables, ranks, own, master));
    }

    /// Identifies the agent on this host by the directory that it creates for the errors of one
    /// start of its ranks. Empty if the launcher is not torchrun.
    private static Optional<String> agent(Variables variables) {
      return variables
          .text("TORCHELASTIC_ERROR_FILE")
          .map(AGENT::matcher)
          .filter(Matcher::matches)
          .map(matcher -> Integer.toHexString(matcher.group(1).hashCode()));
    }
  };

  /// The rank and the sizes from the launcher's own variables.
  private record Ranks(int rank, int size, OptionalInt localRank, OptionalInt localSize) {

    boolean areLocal() {
      return localSize.isPresent() && localSize.getAsInt() == size;
    }
  }

  /// The rank and the size that a launcher states, before any check.
  private record Place(int rank, int size) {}

  private static final String STORE = "WEFT_STORE";
  private static final String JOB = "WEFT_JOB";
  private static final String JOIN = "WEFT_JOIN";
  private static final List<String> LAUNCHERS_OWN =
      List.of(
          "WEFT_LAUNCHER",
          "WEFT_LAUNCHER_PID",
          "WEFT_SECRET",
          "WEFT_SECRET_HEX",
          "WEFT_SECRET_FILE",
          "WEFT_FLIGHT_DIR");
  private static final int FIRST_PORT = 29_400;
  private static final int PORTS = 2_000;

  private static final String RUN_ID = "TORCHELASTIC_RUN_ID";
  private static final String DEFAULT_RUN_ID = "none";
  private static final Pattern AGENT = Pattern.compile("(.+/attempt_[0-9]+)/[0-9]+/error\\.json");

  private final String label;
  private final int depth;
  private final Pattern variables;

  /// @param depth the nesting: a launcher is usually started by launchers with a smaller depth
  /// @param variables the names of the variables that make a process a rank
  Launcher(String label, int depth, String variables) {
    this.label = label;
    this.depth = depth;
    this.variables = Pattern.compile(variables);
  }

  /// Returns the launcher that started this process: the only one whose variables are present and
  /// complete, or the first of several that agree, or the innermost, if it states more ranks than
  /// the outer ones or is Open MPI inside Slurm or torchrun's agent with equally many. Throws
  /// `CommException.Setup` naming the variables of two launchers that contradict each other.
  static Optional<Launcher> of(Variables variables) {
    return Arrays.stream(values())
        .filter(launcher -> launcher.started(variables))
        .reduce((known, other) -> known.innermost(other, variables));
  }

  /// Returns the environment without the variables that make this process a rank; see
  /// `LaunchEnvironment.outside`.
  static Map<String, String> outside(Map<String, String> environment) {
    var variables = new Variables(environment);
    var outside = new HashMap<>(environment);
    boolean several = false;
    for (Launcher launcher : values()) {
      if (launcher.started(variables)) {
        outside.keySet().removeIf(name -> launcher.variables.matcher(name).matches());
        several |= launcher.place(variables).filter(place -> place.size() > 1).isPresent();
      }
    }
    if (several || WEFT.started(variables)) {
      outside.keySet().removeAll(List.of(STORE, JOB, JOIN));
    }
    if (variables.has("WEFT_LAUNCHER")) {
      outside.keySet().removeAll(LAUNCHERS_OWN);
    }
    return outside;
  }

  private Launcher innermost(Launcher other, Variables variables) {
    Optional<Place> here = place(variables);
    Optional<Place> there = other.place(variables);
    if (this != WEFT && isIncomplete(variables) && there.isPresent()) {
      return other;
    }
    if (here.isEmpty() || there.isEmpty() || here.equals(there)) {
      return this;
    }
    Launcher inner = depth > other.depth ? this : other;
    Launcher outer = depth > other.depth ? other : this;
    int more =
        inner.place(variables).orElseThrow().size() - outer.place(variables).orElseThrow().size();
    // Open MPI and torchrun's agents set their variables for each process, and leave the variables
    // that they found.
    boolean known =
        (inner == OPEN_MPI && outer == SLURM)
            || (inner == TORCHRUN && more == 0 && variables.has(RUN_ID));
    if (more > 0 || known) {
      return inner;
    }
    throw new CommException.Setup(
        inner.said(variables)
            + ", but "
            + outer.said(variables)
            + "; unset the variables of the one that does not start the ranks of this job",
        null);
  }

  private String said(Variables variables) {
    List<String> names = names(variables);
    Place place = place(variables).orElseThrow();
    return names.getFirst()
        + " and "
        + names.getLast()
        + " ("
        + label
        + ") say rank "
        + place.rank()
        + " of "
        + place.size();
  }

  /// Returns whether one of rank and size is set and the other is not. A variable of `weft` is set
  /// on purpose, so the caller does not ignore it.
  private boolean isIncomplete(Variables variables) {
    return variables.has(names(variables).getFirst()) != variables.has(names(variables).getLast());
  }

  private Optional<Place> place(Variables variables) {
    try {
      OptionalInt rank = variables.number(names(variables).getFirst());
      OptionalInt size = variables.number(names(variables).getLast());
      return rank.isEmpty() || size.isEmpty()
          ? Optional.empty()
          : Optional.of(new Place(rank.getAsInt(), size.getAsInt()));
    } catch (CommException.Setup unreadable) {
      return Optional.empty();
    }
  }

  abstract List<String> names(Variables variables);

  /// Returns whether the launcher's variables are present. One of the two suffices; `read` then
  /// rejects the environment, because a process that considers itself a job of one rank would train
  /// alone next to the others.
  abstract boolean started(Variables variables);

  /// Reads the variables. Throws `CommException.Setup` naming the invalid one.
  abstract LaunchEnvironment read(Variables variables);

  /// Returns a port below the ephemeral range, equal for equal jobs.
  static int port(String job) {
    return FIRST_PORT + Math.floorMod(job.hashCode(), PORTS);
  }

  /// Reads rank and sizes. An empty name stands for a variable that this launcher does not set.
  Ranks ranks(Variables variables, String localRank, String localSize) {
    String rank = names(variables).getFirst();
    String size = names(variables).getLast();
    int ranks = variables.size(size, rank, label);
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

  /// Returns WEFT_STORE if it is set, otherwise a directory if all ranks are on this host,
  /// otherwise `known`.
  ///
  /// @param own the launcher's unique name of this job
  StoreLocation store(
      Variables variables, Ranks ranks, Optional<String> own, Optional<HostAndPort> known) {
    Optional<HostAndPort> given = variables.hostAndPort(STORE);
    if (given.isPresent()) {
      return new StoreLocation.ByRankZero(given.get().host(), given.get().port());
    }
    if (ranks.size() == 1) {
      return new StoreLocation.InProcess();
    }
    if (ranks.areLocal()) {
      return own.isPresent() || variables.has(JOB)
          ? new StoreLocation.LocalDirectory()
          : new StoreLocation.SiblingDirectory();
    }
    if (known.isPresent()) {
      return new StoreLocation.ByRankZero(known.get().host(), known.get().port());
    }
    throw new CommException.Setup(
        label
            + " started "
            + ranks.size()
            + " ranks ("
            + String.join(", ", names(variables))
            + ") and does not say that all are on this host; set WEFT_STORE to HOST:PORT, an"
            + " address of rank 0's host with a free port, on all ranks, or remove these variables",
        null);
  }

  LaunchEnvironment environment(Ranks ranks, Optional<String> job, StoreLocation store) {
    return new LaunchEnvironment(
        label, ranks.rank(), ranks.size(), ranks.localRank(), ranks.localSize(), job, store);
  }
}
