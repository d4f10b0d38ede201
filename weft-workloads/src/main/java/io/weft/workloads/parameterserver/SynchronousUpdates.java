// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.tensorflow.session.Fetched;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt64;

/// The other half of synchronous steps, which the first worker drives on a thread of its own: takes
/// the gradients on the servers once enough have come, brings them into the variables, and lets the
/// workers go on.
final class SynchronousUpdates {

  private final GraphSession session;
  private final Replica replica;
  private final WorkerLoop.Plan plan;
  private final Optional<ServerCheckpoints> checkpoints;
  private final double[] lossSums;
  private final double[] counts;
  private final CompletableFuture<Boolean> end = new CompletableFuture<>();

  /// @param session of its own
  /// @param checkpoints saves what an epoch's last update has brought, before the next update
  SynchronousUpdates(
      GraphSession session,
      Replica replica,
      WorkerLoop.Plan plan,
      Optional<ServerCheckpoints> checkpoints) {
    this.session = session;
    this.replica = replica;
    this.plan = plan;
    this.checkpoints = checkpoints;
    this.lossSums = new double[plan.steps()];
    this.counts = new double[plan.steps()];
  }

  /// @param onFailure hears why no step will end any more, on the thread
  void start(Consumer<String> onFailure) {
    Thread.ofPlatform().daemon().name("weft-updates").start(() -> run(onFailure));
  }

  private void run(Consumer<String> onFailure) {
    try {
      for (int step = plan.begin(); step < plan.steps(); step++) {
        update(step);
        if (checkpoints.isPresent() && plan.endsEpoch(step)) {
          checkpoints.get().endEpoch(session, losses(step + 1 - plan.columns().steps(), step + 1));
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
            session.run(replica.takingStep(), Map.of(StepTokens.NEXT, next), plan.limit())) {
      TFloat32 summary = (TFloat32) taken.get(0);
      lossSums[step] = summary.getFloat(0);
      counts[step] = summary.getFloat(1);
    }
  }

  /// Waits for the last one; throws what one threw.
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

  /// Of each step that was taken, over the shares that count in it.
  double[] losses() {
    return losses(Math.min(plan.begin(), plan.steps()), plan.steps());
  }

  private double[] losses(int from, int to) {
    double share = (double) plan.settings().batch() / plan.servers().workers();
    double[] losses = new double[to - from];
    for (int step = from; step < to; step++) {
      losses[step - from] = lossSums[step] / (share * counts[step]);
    }
    return losses;
  }

  /// How many gradients count in all steps together.
  double counted() {
    return Arrays.stream(counts).sum();
  }
}
