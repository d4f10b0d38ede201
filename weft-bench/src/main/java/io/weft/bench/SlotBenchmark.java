// SPDX-License-Identifier: Apache-2.0
package io.weft.bench;

import io.weft.Handle;
import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.agent.Agent;
import io.weft.agent.Lane;
import io.weft.agent.Lanes;
import io.weft.agent.Ticker;
import io.weft.agent.WaitPolicy;
import io.weft.cluster.JobProcess;
import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.Store;
import io.weft.cluster.StoreLocation;
import io.weft.cluster.Surroundings;
import io.weft.cluster.store.InMemoryStore;
import io.weft.collective.CollectiveOptions;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.transport.spi.Secret;
import io.weft.transport.spi.TransportProvider;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.ServiceLoader;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;

/// A blocking allreduce by slots, of a tensor of at most 432 bytes, of two ranks in this process.
/// One thread calls both: rank 1 while rank 0 waits, in the moment after it has shown its
/// contribution. So no thread waits for another, whatever else the host does, and what is measured
/// is what callers do. What it allocates is that of both ranks.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class SlotBenchmark {

  private static final int RANKS = 2;
  private static final CollectiveOptions OPTIONS = CollectiveOptions.named("bench");

  /// Of the tensor.
  @Param({"4", "432"})
  public long bytes = 4;

  private final Arena arena = Arena.ofShared();
  private final List<Weft> ranks = new ArrayList<>();
  private final List<TensorView> tensors = new ArrayList<>();
  private @Nullable Handle<TensorView> second;

  /// For JMH.
  public SlotBenchmark() {}

  /// Joins two ranks.
  @Setup(Level.Trial)
  public void join() {
    Store store = new InMemoryStore();
    List<CompletableFuture<Weft>> joining = new ArrayList<>();
    for (int r = 0; r < RANKS; r++) {
      int rank = r;
      joining.add(
          CompletableFuture.supplyAsync(() -> join(rank, store), Thread::startVirtualThread));
      tensors.add(
          new TensorView(
              DType.FLOAT32, Shape.of(bytes / Float.BYTES), arena.allocate(bytes, Long.BYTES)));
    }
    joining.forEach(future -> ranks.add(future.join()));
  }

  private Weft join(int rank, Store store) {
    var launch =
        new LaunchEnvironment(
            "bench",
            rank,
            RANKS,
            OptionalInt.of(rank),
            OptionalInt.of(RANKS),
            Optional.of("bench"),
            new StoreLocation.InProcess());
    var around =
        new Surroundings(
            store,
            Secret.of(new byte[Secret.MIN_BYTES]),
            "bench",
            "127.0.0.1",
            inproc(),
            rank == 0 ? new InterludeLanes() : Lanes.THREADS,
            JobProcess.current());
    return Weft.init(WeftConfig.builder().build(), launch, around);
  }

  private static TransportProvider inproc() {
    return ServiceLoader.load(TransportProvider.class).stream()
        .map(ServiceLoader.Provider::get)
        .filter(provider -> provider.scheme().equals("inproc"))
        .findFirst()
        .orElseThrow();
  }

  private Handle<TensorView> submit(int rank) {
    TensorView tensor = tensors.get(rank);
    return ranks.get(rank).communicator().allreduce(tensor, tensor, ReduceOp.MAX, OPTIONS);
  }

  /// Rank 0's lane, in whose errands rank 1 is called.
  private final class InterludeLanes implements Lanes, InterludeLane.Interlude {

    @Override
    public Ticker ticker() {
      return THREADS.ticker();
    }

    @Override
    public Lane lane(Agent agent, WaitPolicy own, WaitPolicy caller) {
      return new InterludeLane(THREADS.lane(agent, own, caller), this);
    }

    @Override
    public void inside() {
      try {
        var unused = submit(1).await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }

    @Override
    public void instead() {
      second = submit(1);
    }
  }

  /// Both ranks' calls. Where rank 0's lane is busy, so that its caller must wait for it, rank 1 is
  /// called before that and awaited after it: the operation takes the long way.
  @Benchmark
  public TensorView allreduce() throws InterruptedException {
    TensorView sum = submit(0).await();
    Handle<TensorView> late = second;
    second = null;
    return late == null ? sum : late.await();
  }

  /// Leaves the job.
  @TearDown(Level.Trial)
  public void leave() {
    ranks.parallelStream().forEach(Weft::close);
    arena.close();
  }
}
