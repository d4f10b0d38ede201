// SPDX-License-Identifier: Apache-2.0
package io.weft.bench;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.agent.AgentRunners;
import io.weft.cluster.JobProcess;
import io.weft.cluster.LaunchEnvironment;
import io.weft.cluster.NodeEnvironment;
import io.weft.cluster.Store;
import io.weft.cluster.StoreLocation;
import io.weft.cluster.store.InMemoryStore;
import io.weft.collective.AllreduceRequest;
import io.weft.collective.CollectiveOptions;
import io.weft.comm.Handle;
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
import java.util.concurrent.CompletableFuture;

/// A job of two ranks in this process, each with a float32 tensor.
final class RankPair implements AutoCloseable {

  private static final int RANKS = 2;
  private static final CollectiveOptions OPTIONS = CollectiveOptions.named("bench");

  private final Arena arena = Arena.ofShared();
  private final List<Weft> ranks = new ArrayList<>();
  private final List<AllreduceRequest> requests = new ArrayList<>();

  /// Joins both ranks.
  ///
  /// @param bytes size of a tensor
  /// @param first agent runners of rank 0; rank 1 has a progress thread
  RankPair(long bytes, AgentRunners first) {
    Store store = new InMemoryStore();
    List<CompletableFuture<Weft>> joining = new ArrayList<>();
    for (int r = 0; r < RANKS; r++) {
      int rank = r;
      AgentRunners runners = r == 0 ? first : AgentRunners.THREADS;
      joining.add(
          CompletableFuture.supplyAsync(
              () -> join(rank, store, runners), Thread::startVirtualThread));
      var tensor =
          new TensorView(
              DType.FLOAT32, Shape.of(bytes / Float.BYTES), arena.allocate(bytes, Long.BYTES));
      requests.add(new AllreduceRequest(tensor, ReduceOp.MAX, OPTIONS));
    }
    joining.forEach(future -> ranks.add(future.join()));
  }

  private static Weft join(int rank, Store store, AgentRunners runners) {
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
        new NodeEnvironment(
            store,
            Secret.of(new byte[Secret.MIN_BYTES]),
            "bench",
            "127.0.0.1",
            inproc(),
            runners,
            JobProcess.current());
    return Weft.init(WeftConfig.builder().build(), launch, around);
  }

  private static TransportProvider inproc() {
    return TransportProvider.find("inproc").orElseThrow();
  }

  /// Returns the tensor of a rank.
  TensorView tensor(int rank) {
    return requests.get(rank).input();
  }

  /// Submits a rank's part of the next allreduce.
  Handle<TensorView> allreduce(int rank) {
    return ranks.get(rank).communicator().allreduce(requests.get(rank));
  }

  /// Closes both ranks.
  @Override
  public void close() {
    ranks.parallelStream().forEach(Weft::close);
    arena.close();
  }
}
