// SPDX-License-Identifier: Apache-2.0
package io.weft.bench;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.Store;
import io.weft.cluster.StoreLocation;
import io.weft.cluster.store.InMemoryStore;
import io.weft.collective.CollectiveOptions;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.transport.spi.Secret;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
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

/// A blocking allreduce of two ranks in this process, each a thread: submitted, matched, exchanged,
/// awaited. What it allocates is that of both ranks.
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class AllreduceBenchmark {

  private static final int RANKS = 2;
  private static final CollectiveOptions OPTIONS = CollectiveOptions.named("bench");

  /// Of the tensor.
  @Param({"4", "65536"})
  public long bytes = 4;

  private final Arena arena = Arena.ofShared();
  private final List<Weft> ranks = new ArrayList<>();
  private final List<TensorView> tensors = new ArrayList<>();
  private Thread other = Thread.currentThread();

  /// For JMH.
  public AllreduceBenchmark() {}

  /// Joins two ranks, and lets the second follow the first.
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
    other = Thread.ofPlatform().daemon().name("bench-rank-1").start(this::follow);
  }

  private static Weft join(int rank, Store store) {
    LaunchEnvironment launch =
        new LaunchEnvironment(
            "bench",
            rank,
            RANKS,
            OptionalInt.of(rank),
            OptionalInt.of(RANKS),
            Optional.of("bench"),
            new StoreLocation.InProcess());
    WeftConfig config = WeftConfig.builder().transport("inproc").build();
    return Weft.init(config, launch, store, Secret.of(new byte[Secret.MIN_BYTES]), "bench");
  }

  /// Until a result is not zero.
  private void follow() {
    try {
      do {
        allreduce(1);
      } while (tensors.get(1).data().get(ValueLayout.JAVA_FLOAT, 0) == 0);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void allreduce(int rank) throws InterruptedException {
    TensorView tensor = tensors.get(rank);
    ranks.get(rank).communicator().allreduce(tensor, tensor, ReduceOp.MAX, OPTIONS).await();
  }

  /// Rank 0's call.
  @Benchmark
  public void allreduce() throws InterruptedException {
    allreduce(0);
  }

  /// The last one, after which rank 1 ends too.
  @TearDown(Level.Trial)
  public void leave() throws InterruptedException {
    tensors.get(0).data().set(ValueLayout.JAVA_FLOAT, 0, 1);
    allreduce(0);
    other.join(TimeUnit.SECONDS.toMillis(60));
    ranks.parallelStream().forEach(Weft::close);
    arena.close();
  }
}
