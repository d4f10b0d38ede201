// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.timeline;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.agent.Ticker;
import io.weft.collective.CollectiveOptions;
import io.weft.comm.Handle;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.DataParallelOptions;
import io.weft.dataparallel.Fusion;
import io.weft.dataparallel.Reducer;
import io.weft.telemetry.timeline.RankTimeline;
import io.weft.telemetry.timeline.SpanCategory;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// Timelines of real jobs.
public final class Recorded {

  private Recorded() {}

  /// Records ranks that compute in each of `steps` steps and then average a small and a longer
  /// tensor. If `slowMillis` is not 0, the last rank is slower by at least `slowMillis` in each
  /// step.
  public static void job(Path directory, String transport, int ranks, int steps, long slowMillis) {
    WeftConfig config = WeftConfig.builder().transport(transport).build();
    var slowRank = new SlowRank(ranks, steps, slowMillis);
    try (LocalJob job = LocalJob.start(ranks, config)) {
      var unused =
          job.run(
              weft -> {
                try {
                  train(weft, directory, steps, slowRank);
                  return 0;
                } catch (IOException unwritable) {
                  throw new UncheckedIOException(unwritable);
                }
              });
    }
  }

  /// Records the same job with a `DataParallel` with tensor fusion, to which each rank submits its
  /// gradients individually.
  public static void fusedJob(Path directory, int ranks, int steps, long slowMillis) {
    WeftConfig config = WeftConfig.builder().transport("inproc").build();
    var slowRank = new SlowRank(ranks, steps, slowMillis);
    try (LocalJob job = LocalJob.start(ranks, config)) {
      var unused =
          job.run(
              weft -> {
                try {
                  fuse(weft, directory, steps, slowRank);
                  return 0;
                } catch (IOException unwritable) {
                  throw new UncheckedIOException(unwritable);
                }
              });
    }
  }

  private static void fuse(Weft weft, Path directory, int steps, SlowRank slowRank)
      throws IOException, InterruptedException {
    DataParallelOptions options = DataParallelOptions.of(weft.config()).with(Fusion.ON);
    try (RankTimeline rank = RankTimeline.open(weft, Ticker.SYSTEM, Optional.of(directory));
        DataParallel parallel = DataParallel.open(weft, options, rank.timeline())) {
      rank.compareClocks();
      Reducer reducer = parallel.reducer(weft.communicator());
      List<TensorView> gradients = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        MemorySegment memory = Arena.ofAuto().allocate(40_000, 64);
        gradients.add(new TensorView(DType.FLOAT32, Shape.of(10_000), memory));
      }
      for (int step = 0; step < steps; step++) {
        try (var _ = rank.timeline().step(step)) {
          try (var _ = rank.timeline().span("forward & backward")) {
            slowRank.compute(weft.rank(), step);
          }
          long submitted = Ticker.SYSTEM.nanos();
          List<Handle<TensorView>> handles = new ArrayList<>();
          for (int i = 0; i < gradients.size(); i++) {
            handles.add(reducer.reduce("gradient/" + i, gradients.get(i)));
          }
          for (Handle<TensorView> handle : handles) {
            var unused = handle.await();
          }
          slowRank.communicated(weft.rank(), Ticker.SYSTEM.nanos() - submitted);
        }
      }
      rank.compareClocks();
      rank.write();
    }
  }

  private static void train(Weft weft, Path directory, int steps, SlowRank slowRank)
      throws IOException, InterruptedException {
    try (RankTimeline rank = RankTimeline.open(weft, Ticker.SYSTEM, Optional.of(directory));
        TensorLease small = weft.allocate(DType.FLOAT32, Shape.of(4));
        TensorLease large = weft.allocate(DType.FLOAT32, Shape.of(100_000))) {
      rank.compareClocks();
      for (int step = 0; step < steps; step++) {
        try (var _ = rank.timeline().step(step)) {
          try (var _ = rank.timeline().span(SpanCategory.INPUT, "read <input>")) {
            pause(TimeUnit.MILLISECONDS.toNanos(1));
          }
          try (var _ = rank.timeline().span("forward & backward")) {
            slowRank.compute(weft.rank(), step);
          }
          long submitted = Ticker.SYSTEM.nanos();
          var first =
              weft.communicator()
                  .allreduce(
                      small.view(),
                      small.view(),
                      ReduceOp.AVERAGE,
                      CollectiveOptions.named("bias"));
          var second =
              weft.communicator()
                  .allreduce(
                      large.view(),
                      large.view(),
                      ReduceOp.AVERAGE,
                      CollectiveOptions.named("kernel"));
          var unused = first.await();
          unused = second.await();
          slowRank.communicated(weft.rank(), Ticker.SYSTEM.nanos() - submitted);
        }
      }
      rank.compareClocks();
      rank.write();
    }
  }

  /// The delay of the last rank. It depends on events and not on the machine's speed: the last rank
  /// computes until all others have computed, and then for twice the duration of communication.
  private static final class SlowRank {

    private static final long LIMIT_SECONDS = 60;
    private final int slow;
    private final long leastNanos;
    private final List<CountDownLatch> computed = new ArrayList<>();
    private long pausedNanos;
    private long communicatedNanos;

    SlowRank(int ranks, int steps, long leastMillis) {
      this.slow = ranks - 1;
      this.leastNanos = TimeUnit.MILLISECONDS.toNanos(leastMillis);
      for (int step = 0; step < steps; step++) {
        computed.add(new CountDownLatch(slow));
      }
    }

    /// Computes a step of a rank.
    void compute(int rank, int step) throws InterruptedException {
      if (leastNanos > 0 && rank == slow) {
        if (!computed.get(step).await(LIMIT_SECONDS, TimeUnit.SECONDS)) {
          throw new AssertionError("the others have not computed step " + step);
        }
        long nanos = Math.max(leastNanos, 2 * communicatedNanos - pausedNanos);
        pausedNanos += nanos;
        pause(nanos);
      } else {
        pause(TimeUnit.MILLISECONDS.toNanos(2));
        computed.get(step).countDown();
      }
    }

    /// Records the duration of a step's communication.
    void communicated(int rank, long nanos) {
      if (rank == slow) {
        communicatedNanos += nanos;
      }
    }
  }

  /// Pauses for at least `nanos`.
  private static void pause(long nanos) {
    long end = Ticker.SYSTEM.nanos() + nanos;
    for (long left = nanos; left > 0; left = end - Ticker.SYSTEM.nanos()) {
      LockSupport.parkNanos(left);
    }
  }
}
