// SPDX-License-Identifier: Apache-2.0
package io.weft.bench;

import io.weft.agent.Agent;
import io.weft.agent.AgentRunner;
import io.weft.agent.AgentRunners;
import io.weft.agent.IdleStrategy;
import io.weft.agent.Ticker;
import io.weft.comm.Handle;
import io.weft.tensor.TensorView;
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

/// A blocking allreduce over slots, of a tensor of at most 432 bytes, by two ranks in this process.
/// One thread calls both ranks. It calls rank 1 while rank 0 waits, immediately after rank 0 has
/// published its contribution. Therefore no thread waits for another, regardless of the load of the
/// host, and the time is that of the callers' work. The measured allocation is that of both ranks.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class SlotBenchmark {

  /// The size of the tensor.
  @Param({"4", "432"})
  public long bytes = 4;

  private @Nullable RankPair job;
  private @Nullable Handle<TensorView> second;

  /// For JMH.
  public SlotBenchmark() {}

  /// Joins two ranks.
  @Setup(Level.Trial)
  public void join() {
    job = new RankPair(bytes, new InterruptionRunners());
  }

  private Handle<TensorView> submit(int rank) {
    return Objects.requireNonNull(job, "after join()").allreduce(rank);
  }

  /// Rank 0's progress thread, whose inline tasks call rank 1.
  private final class InterruptionRunners
      implements AgentRunners, InterruptedAgentRunner.Interruption {

    @Override
    public Ticker ticker() {
      return THREADS.ticker();
    }

    @Override
    public AgentRunner runner(Agent agent, IdleStrategy own, IdleStrategy caller) {
      return new InterruptedAgentRunner(THREADS.runner(agent, own, caller), this);
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

  /// Runs both ranks' calls. If rank 0's progress thread is busy, its caller must wait for it. Then
  /// rank 1 is called before this wait and awaited after it, and the operation is not run inline.
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
    Objects.requireNonNull(job, "after join()").close();
  }
}
