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

/// A blocking allreduce by slots, of a tensor of at most 432 bytes, of two ranks in this process.
/// One thread calls both: rank 1 while rank 0 waits, in the moment after it has shown its
/// contribution. So no thread waits for another, whatever else the host does, and what is measured
/// is what callers do. What it allocates is that of both ranks.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class SlotBenchmark {

  /// Of the tensor.
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

  /// Rank 0's progress thread, in whose inline tasks rank 1 is called.
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

  /// Both ranks' calls. Where rank 0's progress thread is busy, so that its caller must wait for
  /// it, rank 1 is called before that and awaited after it: the operation takes the long way.
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
