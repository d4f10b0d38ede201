// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.tensorflow.session.Fetched;
import io.weft.workloads.sendrecv.GraphSession;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Consumer;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.TInt64;

/// The other half of synchronous steps, which the first worker drives on a thread of its own: takes
/// the gradients on the servers once enough have come, brings them into the variables, and lets the
/// workers go on.
final class Updates {

  private final GraphSession session;
  private final Replica replica;
  private final Duration limit;
  private final double[] lossSums;
  private final double[] counts;
  private final CompletableFuture<Boolean> end = new CompletableFuture<>();

  /// @param session of its own
  /// @param steps in all
  Updates(GraphSession session, Replica replica, int steps, Duration limit) {
    this.session = session;
    this.replica = replica;
    this.limit = limit;
    this.lossSums = new double[steps];
    this.counts = new double[steps];
  }

  /// @param onFailure hears why no step will end any more, on the thread
  void start(Consumer<String> onFailure) {
    Thread.ofPlatform().daemon().name("weft-updates").start(() -> run(onFailure));
  }

  private void run(Consumer<String> onFailure) {
    try {
      for (int step = 0; step < counts.length; step++) {
        update(step);
      }
      end.complete(true);
    } catch (InterruptedException | RuntimeException | Error failed) {
      end.completeExceptionally(failed);
      onFailure.accept("the update failed: " + failed.getMessage());
    }
  }

  private void update(int step) throws InterruptedException {
    try (TInt64 next = TInt64.scalarOf(step + 1);
        Fetched taken = session.run(replica.takingStep(), Map.of(Tokens.NEXT, next), limit)) {
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

  /// Losses that count in each step, each summed over its worker's share.
  double[] lossSums() {
    return lossSums.clone();
  }

  /// How many gradients count in each step.
  double[] counts() {
    return counts.clone();
  }
}
