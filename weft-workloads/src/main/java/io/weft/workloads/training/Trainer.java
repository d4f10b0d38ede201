// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.agent.Ticker;
import io.weft.cluster.elastic.OnFailure;
import io.weft.comm.CommException;
import io.weft.tensorflow.OpLibrary;
import io.weft.workloads.data.DataSource;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.tensorflow.exceptions.TensorFlowException;

/// The training of a workload on the ranks of a job. All ranks call `run` with equal settings.
/// Confined to one thread.
///
/// If the job shrinks on failure, a run continues with the remaining ranks from the last step that
/// any of them has completed. Its global batch keeps its size and is divided again.
public final class Trainer {

  private final TrainingSettings settings;
  private final DataSource source;
  private final TrainingJob job;
  private final TrainingObserver observer;
  private final RankExchange exchange;
  private final Recovery recovery;
  private @Nullable Running running;
  private List<String> tuningLog = List.of();

  /// A training that has begun.
  private record Running(AllreduceEngine engine, TrainingLoop loop) {}

  /// Creates a run that begins with `run`. Borrows the job.
  public Trainer(
      TrainingSettings settings, DataSource source, TrainingJob job, TrainingObserver observer) {
    this.settings = settings;
    this.source = source;
    this.observer = observer;
    this.job = job;
    this.exchange = RankExchange.of(job);
    this.recovery = new Recovery(job, exchange, Ticker.SYSTEM);
  }

  /// Reads the data, trains and tests. Collective. Throws `DataException` and `TrainingException`.
  public TrainingOutcome run() {
    return run(outcome -> {});
  }

  /// Runs, and passes the outcome to `report` on rank 0. If the job shrinks on failure, all ranks
  /// wait for `report`, so that another rank can report if rank 0 is lost.
  public TrainingOutcome run(Consumer<TrainingOutcome> report) {
    try {
      while (true) {
        try {
          TrainingOutcome outcome = train(DataShard.read(settings, source, job, exchange));
          if (job.rank() == 0) {
            report.accept(outcome);
          }
          if (job.onFailure() == OnFailure.SHRINK) {
            exchange.barrier("end");
          }
          return outcome;
        } catch (CommException | TensorFlowException e) {
          recovery.shrink(
              e instanceof CommException direct
                  ? direct
                  : OpLibrary.load().failure(job.communicator()).orElseThrow(() -> e),
              running == null ? -1 : running.engine().progress().progress());
          if (running != null) {
            running.engine().interrupt();
          }
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while training", e);
    } finally {
      if (running != null) {
        tuningLog = running.engine().tuningLog();
        running.engine().close();
      }
    }
  }

  /// Returns, after `run`, the samples of an autotuner as lines of CSV; empty without an autotuner.
  public List<String> tuningLog() {
    return tuningLog;
  }

  private TrainingOutcome train(DataShard shard) throws InterruptedException {
    exchange.requireSame("data", "rank", shard.extent());
    requireNoShrinking();
    if (running == null) {
      running =
          new Running(
              new AllreduceEngine(settings, shard, job, recovery, observer),
              new TrainingLoop(settings, shard.dataset(), shard.columns(), observer));
    } else {
      running.engine().use(shard);
    }
    running.loop().run(running.engine());
    return running.engine().outcome();
  }

  private void requireNoShrinking() {
    if (job.onFailure() != OnFailure.SHRINK) {
      return;
    }
    if (settings.exchange() instanceof GradientExchange.Tuned) {
      throw new TrainingException.Unfit(
          "--autotune does not go with --on-failure shrink; tune a run without it");
    }
    if (settings.passes() > 1 || settings.largestNorm() < Double.POSITIVE_INFINITY) {
      throw new TrainingException.Unfit(
          "--accumulate and --clip do not go with --on-failure shrink; give --checkpoint DIR and"
              + " start again after a failure");
    }
    if (settings.exchange() instanceof GradientExchange.InShares) {
      throw new TrainingException.Unfit(
          "--optimizer-shares does not go with --on-failure shrink: the optimizer's state of a"
              + " lost rank is lost; give --checkpoint DIR and start again after a failure");
    }
  }
}
