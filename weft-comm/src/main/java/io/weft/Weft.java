// SPDX-License-Identifier: Apache-2.0
package io.weft;

import io.weft.agent.AgentRunner;
import io.weft.agent.AgentRunners;
import io.weft.cluster.Bootstrap;
import io.weft.cluster.JobConfig;
import io.weft.cluster.JobProcess;
import io.weft.cluster.JoinClaim;
import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.Mesh;
import io.weft.cluster.NodeEnvironment;
import io.weft.cluster.ProcessSet;
import io.weft.cluster.ProgressThreads;
import io.weft.cluster.Store;
import io.weft.cluster.Topology;
import io.weft.cluster.channel.ChannelLane;
import io.weft.cluster.channel.RequestChannel;
import io.weft.cluster.elastic.Membership;
import io.weft.cluster.elastic.Membership.Epoch;
import io.weft.cluster.store.JobIdentity;
import io.weft.cluster.store.JobStore;
import io.weft.cluster.watch.Heartbeat;
import io.weft.collective.Algorithms;
import io.weft.collective.Communicator;
import io.weft.collective.Tuning;
import io.weft.collective.choice.AlgorithmTable;
import io.weft.collective.service.Collectives;
import io.weft.comm.CommException;
import io.weft.memory.TensorPool;
import io.weft.natives.NativeLibraries;
import io.weft.observer.Observers;
import io.weft.observer.OperationObserver;
import io.weft.rendezvous.Rendezvous;
import io.weft.rendezvous.service.MeshRendezvous;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.kernel.Kernels;
import io.weft.transport.spi.Credentials;
import io.weft.transport.spi.Secret;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/// This process's membership in its job. `init` joins the job, `close` leaves it. Thread-safe.
///
/// ```java
/// try (Weft weft = Weft.init()) {
///   weft.communicator().allreduce(tensor, tensor, ReduceOp.AVERAGE, named("gradient")).await();
/// }
/// ```
public final class Weft implements AutoCloseable {

  private static final long FIRST_EPOCH = 0;

  private final WeftConfig config;
  private final Mesh mesh;
  private final ProgressThreads threads;
  private final Collectives collectives;
  private final Membership membership;
  private final Rendezvous rendezvous;
  private final Lanes lanes;
  private final AgentRunner runner;
  private final Instruments instruments;
  private final Observers observers;
  private final TensorPool tensors;
  private final Attachments attachments = new Attachments();
  private final int size;
  private final Store store;
  private final AgentRunners runners;
  // Null while this rank is not in an epoch.
  private volatile @Nullable Epoch epoch;
  private volatile @Nullable Communicator all;
  // The action that closes the store if this rank serves it. `close` runs it once.
  private final AtomicReference<Runnable> storeEnd = new AtomicReference<>(() -> {});

  private Weft(
      WeftConfig config,
      ProgressThreads threads,
      Collectives collectives,
      Membership membership,
      Rendezvous rendezvous,
      Lanes lanes,
      Instruments instruments,
      NodeEnvironment around,
      int size) {
    this.config = config;
    this.size = size;
    this.store = new ProgramStore(around.store(), threads::isInside);
    this.runners = around.runners();
    this.threads = threads;
    this.mesh = threads.mesh(collectives);
    this.collectives = collectives;
    this.membership = membership;
    this.rendezvous = rendezvous;
    this.lanes = lanes;
    this.runner = threads.runner(collectives);
    this.instruments = instruments;
    this.observers = instruments.operations();
    this.tensors = collectives.tensors();
    if (!mesh.isLate()) {
      Epoch first = membership.current();
      this.epoch = first;
      this.all = collectives.communicator(first.members(), first);
    }
  }

  /// Joins the job that the environment names (`WEFT_RANK`…, or the variables of Open MPI, MPICH,
  /// Slurm, Kubernetes or torchrun). Without such variables the job has one rank. Blocks until all
  /// ranks are connected, but not longer than the start deadline. With the setting `join`, this
  /// process joins a running job as an additional rank, and the call blocks until all remaining
  /// ranks are connected with it. Throws `CommException.Setup` with the settings to change.
  ///
  /// The call first unpacks the native libraries of modules on the class path, such as
  /// TensorFlow's; the processes of a host do this in turn. A program must not use these libraries
  /// before this call.
  public static Weft init() {
    return init(WeftConfig.load());
  }

  /// Joins the job that the environment names, with these settings.
  public static Weft init(WeftConfig config) {
    Map<String, String> environment = System.getenv();
    return init(config, LaunchEnvironment.detect(environment), environment);
  }

  /// Joins the job that `launch` describes, for embedding and for several ranks in one process.
  ///
  /// @param environment may contain the secret (`WEFT_SECRET`), and identifies the launcher
  public static Weft init(
      WeftConfig config, LaunchEnvironment launch, Map<String, String> environment) {
    LauncherWatch.start(environment);
    if (launch.rank() == 0) {
      SettingsFile.warnOfVariables(environment, config);
      MissingFlags.warn(launch.size(), Kernels.description());
    }
    NativeLibraries.unpackAll(config.startDeadline());
    Thread warmUp = Thread.ofPlatform().daemon().name("weft-warm-up").start(Kernels::warmUp);
    try {
      JobStore job = JobStore.open(launch, config, environment);
      Weft joined = join(config, launch, environment, job);
      warmUp.join(config.startDeadline());
      Transports.tellOfTcp(joined);
      return joined;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommException.Setup("interrupted while joining the job", e);
    }
  }

  /// Takes ownership of `job`, which is closed with the result, or when this call fails.
  private static Weft join(
      WeftConfig config, LaunchEnvironment launch, Map<String, String> environment, JobStore job)
      throws InterruptedException {
    try {
      var nodeEnvironment =
          new NodeEnvironment(
              job.store(),
              job.secret(),
              job.job(),
              job.bind(),
              Transports.provider(config.transport(), launch.size()),
              AgentRunners.THREADS,
              JobProcess.current());
      Weft joined =
          join(
              config,
              launch,
              nodeEnvironment,
              LauncherStore.of(config, launch, environment, job.secret()));
      joined.storeEnd.set(job::close);
      job.store().disconnect(); // saves the server one idle connection per rank
      return joined;
    } catch (InterruptedException | RuntimeException | Error e) {
      job.close();
      throw e;
    }
  }

  /// Joins the job with a given store and a given secret.
  public static Weft init(
      WeftConfig config, LaunchEnvironment launch, Store store, Secret secret, String job) {
    Objects.requireNonNull(job, "job");
    return init(
        config,
        launch,
        new NodeEnvironment(
            store,
            secret,
            job,
            config.bind().orElse("127.0.0.1"),
            Transports.provider(config.transport(), launch.size()),
            AgentRunners.THREADS,
            JobProcess.current()));
  }

  /// Joins the job in a given environment, such as that of a simulation.
  public static Weft init(
      WeftConfig config, LaunchEnvironment launch, NodeEnvironment nodeEnvironment) {
    try {
      return join(config, launch, nodeEnvironment, Optional.empty());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommException.Setup("interrupted while joining the job", e);
    }
  }

  private static Weft join(
      WeftConfig config,
      LaunchEnvironment launch,
      NodeEnvironment around,
      Optional<LauncherStore> launcher)
      throws InterruptedException {
    try (JoinClaim claim = config.required(JobConfig.JOIN) ? claim(config, launch, around) : null) {
      Weft joined = join(config, launch, around, launcher, claim);
      try {
        joined.instruments.joined(joined);
      } catch (RuntimeException | Error refused) {
        joined.close();
        throw refused;
      }
      return joined;
    }
  }

  private static JoinClaim claim(
      WeftConfig config, LaunchEnvironment launch, NodeEnvironment around)
      throws InterruptedException {
    return JoinClaim.take(
        around.runners().ticker(),
        around.store(),
        launch,
        FIRST_EPOCH,
        around.process(),
        config.startDeadline());
  }

  /// @param claim the claim of a process that joins a running job, or null for a rank that starts
  ///   with it
  private static Weft join(
      WeftConfig config,
      LaunchEnvironment launch,
      NodeEnvironment around,
      Optional<LauncherStore> launcher,
      @Nullable JoinClaim claim)
      throws InterruptedException {
    int rank = claim == null ? launch.rank() : claim.rank();
    Collectives collectives =
        new Collectives(config.deadline(), tuning(config), table(config), config.poolBytes());
    Membership membership = new Membership(config.shrinkQuorum(), collectives.epochs());
    var rendezvous = new MeshRendezvous(config.rendezvous());
    ServiceThreads services = config.required(ThreadsConfig.PROGRESS_THREADS);
    var lanes = new Lanes(config, services);
    String job = JobIdentity.met(around.job(), around.store());
    ProgressThreads threads =
        ProgressThreads.open(
            rank,
            around.runners().ticker(),
            Heartbeat.of(config.heartbeat(), config.silenceLimit()),
            services.services(collectives, membership, rendezvous, lanes),
            thread ->
                sink ->
                    Transports.open(
                        config,
                        around,
                        new Credentials(
                            thread == 0 ? job : job + ", thread " + thread,
                            FIRST_EPOCH,
                            rank,
                            around.secret()),
                        sink));
    Instruments instruments;
    try {
      connect(config, launch, around, threads, claim);
      Mesh mesh = threads.mesh(collectives);
      threads.runBy(agent -> ProcessorShare.runner(config, mesh, agent, around.runners()));
      AgentRunner runner = threads.runner(collectives);
      instruments =
          Instruments.open(
              new JoiningRank(
                  config,
                  around.job(),
                  mesh.topology(),
                  mesh.rank(),
                  runner::nanos,
                  mesh::lastSeen,
                  launcher));
    } catch (RuntimeException | Error | InterruptedException e) {
      threads.abandon();
      throw e;
    }
    collectives.runBy(threads.runner(collectives));
    rendezvous.runBy(threads.runner(rendezvous));
    collectives.observedBy(instruments.operations(), instruments.communicators());
    rendezvous.observedBy(instruments.operations());
    lanes.start(threads, collectives, instruments.operations());
    threads.start();
    return new Weft(
        config,
        threads,
        collectives,
        membership,
        rendezvous.client(),
        lanes,
        instruments,
        around,
        launch.size());
  }

  private static void connect(
      WeftConfig config,
      LaunchEnvironment launch,
      NodeEnvironment around,
      ProgressThreads threads,
      @Nullable JoinClaim claim)
      throws InterruptedException {
    if (claim == null) {
      Topology topology =
          Bootstrap.exchange(
              around.runners().ticker(),
              around.store(),
              launch,
              FIRST_EPOCH,
              around.process(),
              threads.addresses(),
              config.sameOnAllRanks(),
              config.startDeadline());
      threads.connect(topology, config.connections(), config.startDeadline());
    } else {
      threads.enter(
          claim.members(threads.addresses(), config.sameOnAllRanks()), config.startDeadline());
      claim.joined(threads.addresses(), config.sameOnAllRanks());
    }
  }

  private static AlgorithmTable table(WeftConfig config) {
    try {
      return Algorithms.table(config.algorithms());
    } catch (IllegalArgumentException refused) {
      throw new CommException.Setup("option algorithms: " + refused.getMessage(), refused);
    }
  }

  private static Tuning tuning(WeftConfig config) {
    return new Tuning(
        config.eagerBytes().orElse(Tuning.AUTO),
        config.segmentBytes().orElse(Tuning.AUTO),
        Tuning.AUTO);
  }

  /// World rank of this process: 0 to `size()` - 1, or more if it joined while the job ran.
  public int rank() {
    return mesh.rank();
  }

  /// Number of ranks that started with the job. It is equal on all ranks and never changes: ranks
  /// that joined later do not count, and lost ranks still count. See `topology`.
  public int size() {
    return size;
  }

  /// Position of this rank among the ranks of its host. Programs choose their device by it.
  public int localRank() {
    return topology().members().get(rank()).localRank();
  }

  /// Number of ranks on this host.
  public int localSize() {
    return topology().localSize(rank());
  }

  /// Number of processors that the ranks of this host have together: the union of the processors
  /// that each may use, or the number that the JVM reports if these are unknown or this process has
  /// a quota of processor time.
  public int localProcessors() {
    return ProcessorShare.localProcessors(topology(), rank());
  }

  /// This rank's share of the host's processors, at least 1: the number of threads that may compute
  /// here while the other ranks of the host compute too.
  public int processorShare() {
    return Math.max(1, localProcessors() / localSize());
  }

  /// Position of this host among the hosts that have this local rank.
  public int crossRank() {
    return topology().members().get(rank()).crossRank();
  }

  /// Number of hosts that have this local rank.
  public int crossSize() {
    return topology().crossSize(rank());
  }

  /// The present and past members of the job, including those that joined while it ran.
  public Topology topology() {
    return mesh.topology();
  }

  /// The settings in force.
  public WeftConfig config() {
    return config;
  }

  /// The communicator of all members of the current epoch. Until `shrink`, these are all ranks that
  /// started with the job, and every call returns the same object. It is closed with this `Weft`.
  /// Throws `IllegalStateException` on a rank that joined while the job ran, because such a rank is
  /// not in an epoch.
  public Communicator communicator() {
    return member(all, rank());
  }

  private static <T> T member(@Nullable T its, int rank) {
    if (its == null) {
      throw new IllegalStateException(
          "rank %d joined while the job ran, so it is in no epoch and no communicator: requests by channel() reach it, collectives do not"
              .formatted(rank));
    }
    return its;
  }

  /// Creates a communicator of some members of the current epoch. All its members must make this
  /// call, and other ranks must not. Members must create several communicators of the same ranks in
  /// the same order. Throws `IllegalArgumentException` if the set lacks this rank or has a rank
  /// outside the epoch, and `IllegalStateException` as `communicator()` does.
  public Communicator communicator(ProcessSet set) {
    return collectives.communicator(set, member(epoch, rank()));
  }

  /// Number of the current epoch; 0 before the first `shrink`. Each communicator belongs to one
  /// epoch. Throws `IllegalStateException` as `communicator()` does.
  public long epoch() {
    return member(epoch, rank()).number();
  }

  /// World ranks of the current epoch, ascending. Until `shrink`, these are all ranks that started
  /// with the job. Ranks keep their numbers. Throws `IllegalStateException` as `communicator()`
  /// does.
  public ProcessSet members() {
    return member(epoch, rank()).members();
  }

  /// Leaves the current epoch and enters the next one with all remaining ranks. The communicators
  /// of the old epoch fail on all ranks from now on. Each remaining rank must call this too, and
  /// does so when its own operations fail. Returns the communicator of all remaining ranks, with
  /// consecutive ranks; `communicator`, `epoch` and `members` refer to the new epoch from then on
  /// [ULFM §17.3].
  ///
  /// A call may skip an epoch that other ranks entered and a further failure ended. An operation
  /// submitted before this call has either failed on this rank, or completed on it and perhaps
  /// failed on another. The ranks should use the first operations of the new communicator to agree
  /// on the work to repeat.
  ///
  /// Only one thread may call this at a time. Waits at most `limit`, then throws
  /// `CommException.TimedOut` with the ranks that did not arrive; this rank is not in an epoch
  /// then, and may call this again. Throws `CommException.Aborted` if too few ranks remain (see
  /// `WeftConfig.shrinkQuorum`), or if the others considered this rank lost and continued without
  /// it. Throws `IllegalStateException` as `communicator()` does.
  public Communicator shrink(Duration limit) throws InterruptedException {
    var unused = member(epoch, rank());
    Epoch next = membership.shrink(runner, limit);
    Communicator members = collectives.communicator(next.members(), next);
    all = members;
    epoch = next;
    return members;
  }

  /// Calls `action` with the cause when a communicator of this rank fails, once for each
  /// communicator, including those that have failed already, but not when one is closed on this
  /// rank. It serves programs that compute for long, because they would otherwise learn of a
  /// failure only from their next operation. The action runs on the thread that runs the agent and
  /// must not block. An exception that it throws is logged.
  public void onFailure(Consumer<? super CommException> action) {
    Objects.requireNonNull(action, "action");
    collectives.onFailure(action);
  }

  /// Notifies `observer` of the operations of this rank, in all services and communicators, until
  /// `unobserve`. Any thread.
  public void observe(OperationObserver observer) {
    Objects.requireNonNull(observer, "observer");
    observers.add(observer);
  }

  /// Stops notifying `observer`, except for a notification in progress. Any thread.
  public void unobserve(OperationObserver observer) {
    observers.remove(observer);
  }

  /// Allocates a tensor in memory of the transport, which shared memory and RDMA access in place.
  /// See `TensorPool.allocate`. The tensor may outlive this `Weft`. Any thread.
  public TensorLease allocate(DType dtype, Shape shape) {
    return tensors.allocate(dtype, shape);
  }

  /// Returns this process's object of this type for the job, for layers above such as data
  /// parallelism. The first call creates it by `open`. It is closed with this `Weft`. `open` may
  /// attach other objects. Throws `IllegalStateException` after `close`. Any thread.
  public <T extends AutoCloseable> T attached(Class<T> type, Function<? super Weft, T> open) {
    Objects.requireNonNull(type, "type");
    return attachments.of(type, () -> open.apply(this));
  }

  /// The rendezvous, which keeps a distributed graph's tensors until their consumer requests them.
  public Rendezvous rendezvous() {
    return rendezvous;
  }

  /// The first lane of the channel for requests to other ranks and their replies. Any thread.
  public RequestChannel channel() {
    return lanes.all().getFirst().channel();
  }

  /// The lanes of the channel, one for each progress thread that runs it, by `progress-threads`.
  /// The handler of a lane receives the requests that were submitted on it. Any thread.
  public List<ChannelLane> lanes() {
    return lanes.all();
  }

  /// The job's key-value store, for facts that some ranks need about others, such as addresses,
  /// roles and settings, but not for data. The launcher serves it, or rank 0 until it leaves the
  /// job. A call after the end of the server throws `CommException.Setup`. Closing the store has no
  /// effect. User threads only: in a callback every call throws `IllegalStateException`.
  public Store store() {
    return store;
  }

  /// The source of clock, runners and executors for services of this rank. Any thread.
  public AgentRunners runners() {
    return runners;
  }

  /// Scheme of the transport in use: "shm", "tcp", "verbs", "inproc".
  public String transport() {
    return mesh.transport().address().scheme();
  }

  /// Returns the counts of this rank's payloads since its start. Any thread.
  public TransferCounts transfers() {
    return TransferCounts.of(threads, lanes.copiedBytes(), rendezvous);
  }

  /// Number of connections made with other ranks, on all progress threads: one per rank and thread,
  /// unless `WeftConfig.connections` is `USED`.
  public int connections() {
    return threads.connections();
  }

  /// Payload and protocol bytes sent to other ranks. Bytes that other ranks access in mapped memory
  /// do not count; see `bytesMapped`.
  public long bytesSent() {
    return threads.bytesSent();
  }

  /// Bytes that collectives of this rank have read and written in tensors of other ranks, if the
  /// ranks of a host map each other's memory.
  public long bytesMapped() {
    return collectives.mappedBytes();
  }

  /// Returns this rank's instrument, such as its flight recorder, if one is open. Any thread.
  public <T extends Instrument> Optional<T> instrument(Class<T> type) {
    return instruments.find(type);
  }

  /// Leaves the job. Fails the pending operations, sends a goodbye to the other ranks, waits at
  /// most two seconds for theirs, and ends the connections and threads. If this rank serves the
  /// store, the store ends first, so that a rank that has left cannot find it again. A second call
  /// has no effect. Throws `IllegalStateException` in a callback, on a thread that runs the agent.
  @Override
  public void close() {
    try {
      if (!threads.isInside()) {
        attachments.close();
        instruments.leaving();
        storeEnd.getAndSet(() -> {}).run();
      }
    } finally {
      threads.close();
      instruments.left();
      tensors.close();
      lanes.close();
    }
  }
}
