// SPDX-License-Identifier: Apache-2.0
package io.weft.bench;

import io.weft.agent.AgentRunners;
import java.lang.foreign.ValueLayout;
import java.util.Objects;
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

/// A blocking allreduce of two ranks in this process, each on a thread: submission, matching,
/// exchange and completion. The measured allocation is that of both ranks.
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
public class AllreduceBenchmark {

  /// The size of the tensor.
  @Param({"4", "65536"})
  public long bytes = 4;

  private @Nullable RankPair job;
  private Thread other = Thread.currentThread();

  /// For JMH.
  public AllreduceBenchmark() {}

  /// Joins two ranks and lets the second follow the first.
  @Setup(Level.Trial)
  public void join() {
    var pair = new RankPair(bytes, AgentRunners.THREADS);
    job = pair;
    other = Thread.ofPlatform().daemon().name("bench-rank-1").start(() -> follow(pair));
  }

  /// Runs rank 1's calls until a result is not zero.
  private static void follow(RankPair pair) {
    try {
      do {
        var unused = pair.allreduce(1).await();
      } while (pair.tensor(1).data().get(ValueLayout.JAVA_FLOAT, 0) == 0);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private RankPair job() {
    return Objects.requireNonNull(job, "after join()");
  }

  /// Runs rank 0's call.
  @Benchmark
  public void allreduce() throws InterruptedException {
    var unused = job().allreduce(0).await();
  }

  /// Runs the last call, which also ends rank 1.
  @TearDown(Level.Trial)
  public void leave() throws InterruptedException {
    job().tensor(0).data().set(ValueLayout.JAVA_FLOAT, 0, 1);
    allreduce();
    other.join(TimeUnit.SECONDS.toMillis(60));
    job().close();
  }
}
