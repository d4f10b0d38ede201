// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.tensorflow.session.Fetched;
import io.weft.workloads.batch.RankShards;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt64;

/// The server side of synchronous steps, which the first worker runs on a separate thread. It takes
/// the gradients on the servers when enough have arrived, applies them to the variables, and
/// releases the workers.
final class SynchronousUpdates {

  private final GraphSession session;
  private final WorkerGraph graph;
  private final RankShards share;
  private final int first;
  private final double[] lossSums;
  private final double[] counts;
  private final CompletableFuture<Boolean> end = new CompletableFuture<>();

  /// @param session used only by these updates
  /// @param share of the first worker
  /// @param first the first step, counted from the first step of the first epoch
  /// @param steps of the whole training
  SynchronousUpdates(
      GraphSession session, WorkerGraph graph, RankShards share, int first, int steps) {
    this.session = session;
    this.graph = graph;
    this.share = share;
    this.first = Math.min(first, steps);
    this.lossSums = new double[steps];
    this.counts = new double[steps];
  }

  /// @param checkpoints saves the result of an epoch's last update before the next update
  /// @param onFailure called with the reason of a failed update, on the updating thread
  void start(Optional<ServerCheckpoints> checkpoints, Consumer<String> onFailure) {
    Thread.ofPlatform().daemon().name("weft-updates").start(() -> run(checkpoints, onFailure));
  }

  private void run(Optional<ServerCheckpoints> checkpoints, Consumer<String> onFailure) {
    int perEpoch = share.columns().steps();
    try {
      for (int step = first; step < counts.length; step++) {
        update(step);
        if (checkpoints.isPresent() && (step + 1) % perEpoch == 0) {
          checkpoints.get().endEpoch(session, losses(step + 1 - perEpoch, step + 1));
        }
      }
      end.complete(true);
    } catch (InterruptedException | RuntimeException | Error failed) {
      end.completeExceptionally(failed);
      onFailure.accept("the update failed: " + failed.getMessage());
    }
  }

  private void update(int step) throws InterruptedException {
    try (TInt64 next = TInt64.scalarOf(step + 1);
        Fetched taken =
            session.run(
                graph.replica().takingStep(), Map.of(StepTokens.NEXT, next), graph.limit())) {
      TFloat32 summary = (TFloat32) taken.get(0);
      lossSums[step] = summary.getFloat(0);
      counts[step] = summary.getFloat(1);
    }
  }

  /// Waits for the last update; throws the exception of a failed update.
  void await() throws InterruptedException {
    try {
      var unused = end.get();
    } catch (ExecutionException failed) {
      if (failed.getCause() instanceof RuntimeException unchecked) {
        throw unchecked;
      }
      throw new IllegalStateException("the updates ended", failed);
    }
  }

  /// Returns the loss of each step, averaged over the shares that count in it.
  double[] losses() {
    return losses(first, counts.length);
  }

  private double[] losses(int from, int to) {
    double width = (double) share.columns().batch() / share.size();
    double[] losses = new double[to - from];
    for (int step = from; step < to; step++) {
      losses[step - from] = lossSums[step] / (width * counts[step]);
    }
    return losses;
  }

  /// Returns the number of gradients that count in all steps.
  double counted() {
    return Arrays.stream(counts).sum();
  }
}
