// SPDX-License-Identifier: Apache-2.0
package io.weft.kv;

import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import io.weft.Weft;
import io.weft.cluster.ProcessSet;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.kv.frame.KvOp;
import io.weft.kv.spec.Consistency;
import io.weft.kv.spec.Slicer;
import io.weft.kv.spec.TableCounts;
import io.weft.kv.spec.TableSpec;
import io.weft.kv.worker.ShardLanes;
import io.weft.kv.worker.TensorRequests;
import io.weft.kv.worker.WorkerLinks;
import io.weft.kv.worker.WorkerLinks.Terms;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// The worker side of a parameter server. Any thread.
public final class KvWorker {

  private static final long NONE_USABLE = -1;

  private final Weft weft;
  private final Layout layout;
  private final WorkerLinks links;
  private final Communicator workers;
  private final Slicer parts;
  private final boolean first;

  /// The workers of this host, which sum their pushes; null = each worker pushes to the servers.
  private final @Nullable Communicator host;

  private final KvOptions.Levels levels;
  private final List<KvObject> stored = new CopyOnWriteArrayList<>();
  private final ReentrantLock registering = new ReentrantLock();

  /// @param mine the workers of this host that sum their pushes; empty = each pushes to the servers
  /// @param local the server on this rank; null if there is none
  KvWorker(
      Weft weft, Layout layout, KvOptions options, List<Integer> mine, @Nullable KvServer local) {
    this.weft = weft;
    this.layout = layout;
    this.host = mine.size() < 2 ? null : weft.communicator(new ProcessSet(mine));
    this.workers =
        weft.communicator(
            new ProcessSet(mine.isEmpty() ? layout.workers() : options.workersOf(weft.size())));
    this.levels = options.levels();
    this.first = layout.workers().getFirst() == weft.rank();
    int blockBytes = 4 * Slicer.Parts.BLOCK_ELEMENTS;
    this.parts =
        Slicer.parts(
            weft.config().required(KvConfig.PARTITION) / blockBytes * Slicer.Parts.BLOCK_ELEMENTS);
    Duration limit = options.limit(weft);
    this.links =
        new WorkerLinks(
            new ShardLanes(weft.lanes(), layout::laneOf),
            new Terms(
                weft.rank(),
                layout.kind(),
                layout.shards(),
                weft.config().required(KvConfig.IN_FLIGHT),
                limit),
            layout.replicas(),
            local == null ? null : local::serve);
    if (local != null) {
      local.worker(links);
    } else if (layout.replicas().isMirrored()) {
      weft.channel().serve(layout.kind(), new ReplicasHandler(layout, weft.rank(), links));
    }
  }

  /// Registers the table of rows of this specification on all shards. All workers must register the
  /// same specification. A different one is refused with `CommException.Mismatch`, which contains
  /// both. A worker that registers it again gets the same object, because a worker has one clock
  /// per table. Waits for the servers, at most until the deadline. Throws
  /// `IllegalArgumentException` for a specification of another kind, or if the number of backup
  /// workers is not less than the number of workers.
  public KvTable register(TableSpec spec) throws InterruptedException {
    require(spec, TableSpec.Kind.ROWS, "registerTensor");
    return registered(spec, KvTable.class, () -> new KvTable(links, spec));
  }

  /// Registers a dense tensor, as `register` does a table of rows.
  public KvTensor registerTensor(TableSpec spec) throws InterruptedException {
    require(spec, TableSpec.Kind.TENSOR, "register");
    TableSpec cut = spec.slicer() instanceof Slicer.Parts ? spec : spec.with(parts);
    return registered(cut, KvTensor.class, () -> tensor(cut));
  }

  private KvTensor tensor(TableSpec spec) {
    var requests = new TensorRequests(links, spec);
    HostLevel level =
        host == null ? null : new HostLevel(weft, host, spec, leads() ? requests : null);
    return new KvTensor(requests, spec, KvNode.staging(weft), first, level);
  }

  /// Returns whether this worker communicates with the servers.
  private boolean leads() {
    return layout.workers().contains(weft.rank());
  }

  /// Registers a table of values of any length, as `register` does one of rows.
  public KvValues registerValues(TableSpec spec) throws InterruptedException {
    require(spec, TableSpec.Kind.VALUES, "register or registerTensor");
    return registered(spec, KvValues.class, () -> new KvValues(links, spec));
  }

  private <T extends KvObject> T registered(TableSpec spec, Class<T> kind, Supplier<T> maker)
      throws InterruptedException {
    requireLevels(spec);
    int backup = spec.consistency().backupWorkers();
    if (backup >= workers.size()) {
      throw new IllegalArgumentException(
          "table '%s' has %d backup workers, but the job has %d workers; at least one must push"
              .formatted(spec.name(), backup, workers.size()));
    }
    registering.lockInterruptibly();
    try {
      for (KvObject each : stored) {
        if (each.spec().text().equals(spec.text())) {
          enroll(each);
          return kind.cast(each);
        }
      }
      T made = maker.get();
      enroll(made);
      stored.add(made);
      return made;
    } finally {
      registering.unlock();
    }
  }

  /// Registers an object on the servers, by one worker of each host at two levels.
  private void enroll(KvObject it) throws InterruptedException {
    if (host != null) {
      var text = new TreeMap<>(Map.of("'" + it.spec().name() + "'", it.spec().text()));
      SameOnWorkers.require(host, "registration", text);
    }
    if (leads()) {
      try {
        var unused = it.register().await();
      } catch (CommException failed) {
        if (host != null) {
          host.abort(failed); // because the other workers of the host would wait for this one
        }
        throw failed;
      }
    }
  }

  private void requireLevels(TableSpec spec) {
    Consistency with = spec.consistency();
    boolean whole = with.isSynchronous() && with.backupWorkers() == 0;
    if (levels == KvOptions.Levels.TWO && !(whole && spec.kind() == TableSpec.Kind.TENSOR)) {
      throw new IllegalArgumentException(
          "table '%s' of kind %s, %s, at two levels, which are for synchronous tensors; use KVStore or Levels.ONE"
              .formatted(spec.name(), spec.kind(), with));
    }
  }

  private void requireOneLevel() {
    if (levels == KvOptions.Levels.TWO) {
      throw new IllegalStateException(
          "a checkpoint at two levels on rank %d; open the KvNode with Levels.ONE"
              .formatted(weft.rank()));
    }
  }

  private static void require(TableSpec spec, TableSpec.Kind kind, String other) {
    if (spec.kind() != kind) {
      throw new IllegalArgumentException(
          "table '%s' is of kind %s, not %s; call %s"
              .formatted(spec.name(), spec.kind(), kind, other));
    }
  }

  /// Advances the worker's clock in all of its registered tables that are not synchronous. In a
  /// bounded table, pulls at this clock plus the staleness see this worker's earlier pushes. A step
  /// must advance the clock only once: a program that calls this must not call the `clock` methods
  /// of its tables.
  public void clock() throws InterruptedException {
    List<Handle<Void>> told = new ArrayList<>();
    for (KvObject each : stored) {
      if (!each.spec().consistency().isSynchronous()) {
        told.add(each.clock());
      }
    }
    for (Handle<Void> each : told) {
      var unused = each.await();
    }
  }

  /// Returns the sum of this worker's counters over all of its registered tables.
  public TableCounts counts() {
    return stored.stream().map(KvObject::counts).reduce(TableCounts.NONE, TableCounts::plus);
  }

  /// Sends a text to every server that is not lost, waits for the answers, and returns them by
  /// rank. A server may have acted on the text even if this throws. Throws
  /// `IllegalArgumentException` for a text of more than `KvCommands.MOST_BYTES`, and
  /// `CommException.Mismatch` if a server refuses.
  public Map<Integer, String> command(String text) throws InterruptedException {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > KvCommands.MOST_BYTES) {
      throw new IllegalArgumentException(
          "a command of %d bytes; at most %d".formatted(bytes.length, KvCommands.MOST_BYTES));
    }
    Map<Integer, String> answers = new TreeMap<>();
    links
        .command(bytes)
        .await()
        .forEach((rank, it) -> answers.put(rank, new String(it, StandardCharsets.UTF_8)));
    return answers;
  }

  /// Waits until all workers have called it, at most until the job's deadline.
  public void barrier() throws InterruptedException {
    var unused = workers.barrier(CollectiveOptions.named("kv/barrier")).await();
  }

  /// Writes the tables and tensors of the options, by default all that this worker has registered,
  /// while all workers continue. Only one worker may call it. Returns when the checkpoint is on
  /// disk. For each table and shard the checkpoint contains whole pushes, and for each worker a
  /// prefix of its pushes. For a synchronous table it contains the pushes of the same clocks on all
  /// shards. Rows that have not changed since the last checkpoint are not written again, subject to
  /// `CheckpointOptions.fullEvery`.
  ///
  /// Throws `IOException` if this worker cannot write, and `CommException.Mismatch` if a server
  /// cannot. The previous checkpoints then remain.
  public Checkpoint checkpoint(CheckpointOptions options) throws IOException, InterruptedException {
    requireOneLevel();
    return new CheckpointMaking(options, links, specs(options), KvOp.CUT).make();
  }

  /// Writes a checkpoint to a directory with default options.
  public Checkpoint checkpoint(Path directory) throws IOException, InterruptedException {
    return checkpoint(CheckpointOptions.in(directory));
  }

  /// Restores the last checkpoint whose files are all intact. All workers must call it after they
  /// have registered the tables and before the first push. The numbers of servers, shards and
  /// workers may differ from those at the time of the checkpoint. Returns empty if the directory
  /// contains no finished checkpoint.
  ///
  /// If no finished checkpoint can be used, throws `IOException`, which names every torn or altered
  /// file, on the first worker, and `CommException.Mismatch` on the others. Throws
  /// `CommException.Mismatch` if the tables differ. Some rows may then be restored, and the job
  /// cannot continue.
  public Optional<Checkpoint> restore(CheckpointOptions options)
      throws IOException, InterruptedException {
    requireOneLevel();
    var loading = new CheckpointLoading(options, links, specs(options));
    List<String> refused = new ArrayList<>();
    long chosen = NONE_USABLE;
    int worker = layout.workers().indexOf(weft.rank());
    try {
      chosen = worker == 0 ? loading.choose(refused) : 0;
    } finally {
      chosen = agree(options, chosen, "chosen");
    }
    if (chosen == NONE_USABLE) {
      throw new CommException.Mismatch(
          "rank %d has found no usable checkpoint in %s; see its error"
              .formatted(layout.workers().getFirst(), options.directory()));
    }
    if (chosen == 0) {
      return Optional.empty();
    }
    long failed = 1;
    Checkpoint restored;
    try {
      restored = loading.load((int) chosen, worker, layout.workers().size(), refused);
      failed = 0;
    } finally {
      failed = agree(options, failed, "failed");
    }
    if (failed > 0) {
      throw new CommException.Mismatch(
          "%s was not restored: %d of %d workers could not load their share; see their errors"
              .formatted(restored.path(), failed, layout.workers().size()));
    }
    for (KvObject each : stored) {
      var unused = each.register().await(); // sets the clock
    }
    barrier();
    return Optional.of(restored);
  }

  /// Restores the last intact checkpoint of a directory with default options.
  public Optional<Checkpoint> restore(Path directory) throws IOException, InterruptedException {
    return restore(CheckpointOptions.in(directory));
  }

  /// Returns the specifications of the tables that are written or restored. Throws
  /// `IllegalArgumentException` for a name of a table that is not registered.
  private List<TableSpec> specs(CheckpointOptions options) {
    List<TableSpec> all = stored.stream().map(KvObject::spec).toList();
    if (options.tables().isEmpty()) {
      return all;
    }
    List<TableSpec> named =
        all.stream().filter(each -> options.tables().contains(each.name())).toList();
    if (named.size() < options.tables().size()) {
      throw new IllegalArgumentException(
          "the tables %s are to be written or restored, and this worker has registered only %s of them"
              .formatted(
                  new TreeSet<>(options.tables()), named.stream().map(TableSpec::name).toList()));
    }
    return named;
  }

  /// Returns the sum of the values of all workers.
  private long agree(CheckpointOptions options, long mine, String what)
      throws InterruptedException {
    try (TensorLease said = weft.allocate(DType.INT64, Shape.of(1))) {
      said.view().data().set(JAVA_LONG_UNALIGNED, 0, mine);
      var unused =
          workers
              .allreduce(
                  said.view(),
                  said.view(),
                  ReduceOp.SUM,
                  CollectiveOptions.named("kv/restore/" + what).within(options.limit()))
              .await();
      return said.view().data().get(JAVA_LONG_UNALIGNED, 0);
    }
  }

  /// Returns the communicator of the workers.
  public Communicator workers() {
    return workers;
  }

  /// Returns the number of shards.
  public int shards() {
    return layout.shards();
  }
}
