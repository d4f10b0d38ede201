// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import io.weft.comm.CommException;
import io.weft.transport.limit.Span;
import io.weft.workloads.training.TrainingException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/// A training on a daemon thread of its own. What TensorFlow computes or loads cannot be
/// interrupted; whoever waits here for a training whose job has failed is let go all the same.
final class TrainingThread {

  /// In which the training may end by itself, in order and with more to say.
  private static final Duration GRACE = Duration.ofSeconds(1);

  private static final Executor LATER =
      CompletableFuture.delayedExecutor(Span.millis(GRACE), TimeUnit.MILLISECONDS);

  /// What the thread runs.
  @FunctionalInterface
  interface Training {
    void run() throws IOException;
  }

  private final CompletableFuture<Boolean> end = new CompletableFuture<>();

  private TrainingThread() {}

  static TrainingThread start(Training training) {
    var started = new TrainingThread();
    Thread.ofPlatform().daemon().name("weft-training").start(() -> started.run(training));
    return started;
  }

  private void run(Training training) {
    try {
      training.run();
      end.complete(true);
    } catch (IOException | RuntimeException | Error thrown) {
      end.completeExceptionally(thrown);
    }
  }

  /// The job has failed: `await` returns soon. Does not wait. Any thread.
  void giveUp(CommException cause) {
    LATER.execute(() -> end.completeExceptionally(new TrainingException.Lost(cause)));
  }

  /// Waits as long as the training takes, and throws what it threw; `TrainingException.Lost` where
  /// it was given up and goes on to its next operation, which fails.
  void await() throws IOException {
    try {
      var unused = end.get();
    } catch (ExecutionException thrown) {
      switch (thrown.getCause()) {
        case IOException e -> throw e;
        case RuntimeException e -> throw e;
        case Error e -> throw e;
        case null, default -> throw new IllegalStateException(thrown);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted while training", interrupted);
    }
  }
}
