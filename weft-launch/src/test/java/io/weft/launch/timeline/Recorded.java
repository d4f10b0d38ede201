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
import io.weft.dataparallel.timeline.RankTimeline;
import io.weft.dataparallel.timeline.SpanCategory;
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
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/// Timelines of real jobs.
public final class Recorded {

  private Recorded() {}

  /// Ranks that compute for so long in each of `steps` steps, the last rank `slowMillis` longer,
  /// and then average a small and a longer tensor.
  public static void job(Path directory, String transport, int ranks, int steps, long slowMillis) {
    WeftConfig config = WeftConfig.builder().transport(transport).build();
    try (LocalJob job = LocalJob.start(ranks, config)) {
      var unused =
          job.run(
              weft -> {
                try {
                  train(weft, directory, steps, weft.rank() == ranks - 1 ? slowMillis : 0);
                  return 0;
                } catch (IOException unwritable) {
                  throw new UncheckedIOException(unwritable);
                }
              });
    }
  }

  /// The same for gradients that go through a `DataParallel` with tensor fusion: one rank submits
  /// them one by one, `slowMillis` later than the others.
  public static void fusedJob(Path directory, int ranks, int steps, long slowMillis) {
    WeftConfig config = WeftConfig.builder().transport("inproc").build();
    try (LocalJob job = LocalJob.start(ranks, config)) {
      var unused =
          job.run(
              weft -> {
                try {
                  fuse(weft, directory, steps, weft.rank() == ranks - 1 ? slowMillis : 0);
                  return 0;
                } catch (IOException unwritable) {
                  throw new UncheckedIOException(unwritable);
                }
              });
    }
  }

  private static void fuse(Weft weft, Path directory, int steps, long slowMillis)
      throws IOException, InterruptedException {
    DataParallelOptions options = DataParallelOptions.of(weft.config()).with(Fusion.ON);
    try (RankTimeline rank = RankTimeline.open(weft, Ticker.SYSTEM, Optional.of(directory));
        DataParallel parallel = DataParallel.over(weft, options, rank.timeline())) {
      rank.compareClocks();
      Reducer reducer = parallel.over(weft.communicator());
      List<TensorView> gradients = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        MemorySegment memory = Arena.ofAuto().allocate(40_000, 64);
        gradients.add(new TensorView(DType.FLOAT32, Shape.of(10_000), memory));
      }
      for (int step = 0; step < steps; step++) {
        try (var _ = rank.timeline().step(step)) {
          try (var _ = rank.timeline().span("forward & backward")) {
            pause(3 + slowMillis);
          }
          List<Handle<TensorView>> handles = new ArrayList<>();
          for (int i = 0; i < gradients.size(); i++) {
            handles.add(reducer.reduce("gradient/" + i, gradients.get(i)));
          }
          for (Handle<TensorView> handle : handles) {
            var unused = handle.await();
          }
        }
      }
      rank.compareClocks();
      rank.write();
    }
  }

  private static void train(Weft weft, Path directory, int steps, long slowMillis)
      throws IOException, InterruptedException {
    Ticker ticker = Ticker.SYSTEM;
    try (RankTimeline rank = RankTimeline.open(weft, ticker, Optional.of(directory));
        TensorLease small = weft.allocate(DType.FLOAT32, Shape.of(4));
        TensorLease large = weft.allocate(DType.FLOAT32, Shape.of(100_000))) {
      rank.compareClocks();
      for (int step = 0; step < steps; step++) {
        try (var _ = rank.timeline().step(step)) {
          try (var _ = rank.timeline().span(SpanCategory.INPUT, "read <input>")) {
            pause(1);
          }
          try (var _ = rank.timeline().span("forward & backward")) {
            pause(5 + slowMillis);
          }
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
        }
      }
      rank.compareClocks();
      rank.write();
    }
  }

  private static void pause(long millis) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
