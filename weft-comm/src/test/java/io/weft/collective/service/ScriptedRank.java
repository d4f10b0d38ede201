// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.agent.AgentRunner;
import io.weft.cluster.Connections;
import io.weft.cluster.Member;
import io.weft.cluster.Mesh;
import io.weft.cluster.ProcessSet;
import io.weft.cluster.Processors;
import io.weft.cluster.Topology;
import io.weft.cluster.elastic.Membership.Epoch;
import io.weft.cluster.watch.Heartbeat;
import io.weft.collective.Algorithms;
import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.collective.Tuning;
import io.weft.collective.exchange.RowPartition;
import io.weft.comm.CommException;
import io.weft.comm.Handle;
import io.weft.rendezvous.Rendezvous;
import io.weft.rendezvous.RendezvousOptions;
import io.weft.rendezvous.TransferProtocol;
import io.weft.rendezvous.TransferQueue;
import io.weft.rendezvous.TransferRequests;
import io.weft.rendezvous.service.MeshRendezvous;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.transport.Address;
import io.weft.transport.MemoryRegion;
import io.weft.transport.region.RegionTable;
import java.lang.foreign.Arena;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/// Rank 1 of 3 with production code, over a `ScriptedTransport` and in virtual time. Its user runs
/// its duty cycles. It has two communicators: one of all ranks, and one of ranks 0 and 1.
final class ScriptedRank implements AutoCloseable {

  static final int RANK = 1;
  static final int RANKS = 3;
  static final int KINDS = 11;

  private static final Duration LIMIT = Duration.ofSeconds(2);
  private static final Heartbeat HEARTBEAT =
      Heartbeat.of(Duration.ofSeconds(1), Duration.ofSeconds(5));
  private static final Epoch EPOCH = new Epoch(0, ProcessSet.world(RANKS));
  private static final long CYCLE_NANOS = 1_000_000;

  /// The bytes of a segment: small enough that a few floats take every path of tensors.
  static final int SEGMENT_BYTES = 128;

  private static final Tuning TUNING = new Tuning(64, SEGMENT_BYTES, 4);

  private final ScriptedTransport[] opened = new ScriptedTransport[1];
  private final Mesh mesh;
  private final List<Communicator> communicators;
  private final List<Handle<?>> handles = new ArrayList<>();
  private final List<MemoryRegion> blocks = new ArrayList<>();
  private final RegionTable table;
  private final MeshRendezvous rendezvous;
  private long now = 1;

  ScriptedRank(RegionTable table) {
    this(table, TransferProtocol.READ);
  }

  /// @param protocol the protocol of the tensors that the rendezvous carries
  ScriptedRank(RegionTable table, TransferProtocol protocol) {
    this.table = table;
    rendezvous =
        new MeshRendezvous(
            new RendezvousOptions(
                protocol,
                TransferRequests.FUSED,
                TransferQueue.LOCK_FREE,
                1 << 20,
                OptionalInt.empty()));
    var collectives = new Collectives(LIMIT, TUNING, Algorithms.table(Optional.empty()), 1 << 12);
    mesh =
        new Mesh(
            RANK,
            () -> now += CYCLE_NANOS,
            HEARTBEAT,
            List.of(collectives, rendezvous),
            sink -> {
              opened[0] = new ScriptedTransport(sink, RANK, RANKS, table);
              return opened[0];
            });
    List<Member> members =
        IntStream.range(0, RANKS)
            .mapToObj(
                r ->
                    new Member(
                        r,
                        r,
                        0,
                        "host",
                        "",
                        Processors.UNKNOWN,
                        List.of(new Address("script", "" + r))))
            .toList();
    mesh.connect(new Topology(0, members), Connections.ALL, LIMIT);
    collectives.runBy(new CallingRunner());
    rendezvous.runBy(new CallingRunner());
    communicators =
        List.of(
            collectives.communicator(ProcessSet.world(RANKS), EPOCH),
            collectives.communicator(new ProcessSet(List.of(0, 1)), EPOCH));
    cycle(0);
  }

  ScriptedTransport transport() {
    return opened[0];
  }

  Rendezvous rendezvous() {
    return rendezvous.client();
  }

  /// Advances the time and runs one duty cycle of the rank.
  void cycle(long nanos) {
    now += nanos;
    int unused = mesh.work(now);
  }

  /// Submits an operation of one of the `KINDS`.
  Handle<?> submit(int which, int kind, String name, int elements) {
    Communicator communicator = communicators.get(which);
    CollectiveOptions options = CollectiveOptions.named(name);
    TensorView tensor = tensor(elements);
    Handle<?> handle =
        switch (kind) {
          case 0 ->
              communicator.allreduce(
                  tensor, tensor, ReduceOp.SUM, options.by("recursive-doubling"));
          case 1 -> communicator.broadcast(tensor, 0, options);
          case 2 -> freed(communicator.allgather(tensor, options.by("ring")));
          case 3 ->
              communicator.alltoall(
                  tensor, splits(elements, communicator.size()), options.by("direct"));
          case 4 ->
              communicator.allreduce(
                  tensor, tensor(elements), ReduceOp.AVERAGE, options.by("ring"));
          case 5 -> communicator.barrier(options);
          default ->
              onSharedMemory(communicator, kind, sharedTensor(elements), options.by("mapped"));
        };
    handles.add(handle);
    return handle;
  }

  private Handle<?> onSharedMemory(
      Communicator communicator, int kind, TensorView shared, CollectiveOptions options) {
    int elements = (int) shared.shape().elements();
    return switch (kind) {
      case 7 -> communicator.broadcast(shared, communicator.rank(), options);
      case 8 -> freed(communicator.allgather(shared, options));
      case 9 -> communicator.alltoall(shared, splits(elements, communicator.size()), options);
      case 10 -> {
        int mine = splits(elements, communicator.size()).get(communicator.rank()).intValue();
        yield communicator.reduceScatter(shared, tensor(mine), ReduceOp.SUM, options);
      }
      default -> communicator.allreduce(shared, shared, ReduceOp.SUM, options);
    };
  }

  private static Handle<TensorLease> freed(Handle<TensorLease> handle) {
    handle.whenDone(
        (lease, failure) -> {
          if (lease != null) {
            lease.close();
          }
        });
    return handle;
  }

  private static TensorView tensor(int elements) {
    Shape shape = Shape.of(elements);
    return new TensorView(
        DType.FLOAT32, shape, Arena.ofAuto().allocate(TensorView.bytes(DType.FLOAT32, shape), 64));
  }

  private TensorView sharedTensor(int elements) {
    Shape shape = Shape.of(elements);
    MemoryRegion block = table.allocate(TensorView.bytes(DType.FLOAT32, shape));
    blocks.add(block);
    return new TensorView(DType.FLOAT32, shape, block.segment());
  }

  private static List<Long> splits(int elements, int size) {
    return java.util.Arrays.stream(RowPartition.even(elements, size)).boxed().toList();
  }

  /// Aborts a communicator on all its ranks.
  void abort(int which) {
    communicators.get(which).abort(new CommException.Aborted("the script aborts it", null));
  }

  /// Closes a communicator in order.
  void leave(int which) {
    communicators.get(which).close();
  }

  /// Leaves the job. Throws if an operation is then not done, because its user would wait for ever.
  @Override
  public void close() {
    mesh.close();
    blocks.forEach(MemoryRegion::close);
    for (Handle<?> handle : handles) {
      if (!handle.isDone()) {
        throw new AssertionError("an operation never ends");
      }
      handle.whenDone(ScriptedRank::check);
    }
  }

  private static void check(Object result, CommException failure) {
    if (failure != null && (failure.getMessage() == null || failure.getMessage().isBlank())) {
      throw new AssertionError("a failure without a message", failure);
    }
  }

  /// A runner that does all work on the caller's thread.
  private final class CallingRunner implements AgentRunner {

    @Override
    public void start() {}

    @Override
    public void commandQueued() {}

    @Override
    public void runLeft(Runnable left) {
      left.run();
    }

    @Override
    public boolean isInside() {
      return true;
    }

    @Override
    public boolean drive(BooleanSupplier done, long deadlineNanos) {
      cycle(CYCLE_NANOS);
      return done.getAsBoolean();
    }

    @Override
    public boolean schedule(long atNanos, Runnable task) {
      return false;
    }

    @Override
    public long nanos() {
      return now;
    }

    @Override
    public void close() {
      mesh.close();
    }
  }
}
