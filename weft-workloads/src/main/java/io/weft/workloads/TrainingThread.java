// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads;

import io.weft.comm.CommException;
import io.weft.transport.limit.ClampedDuration;
import io.weft.workloads.training.TrainingException;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

/// A training on a separate daemon thread. TensorFlow's computing and loading cannot be
/// interrupted, so `await` leaves the thread of a failed job behind.
final class TrainingThread {

  /// The time in which the training may end by itself, with a more precise error.
  private static final Duration GRACE = Duration.ofSeconds(1);

  private static final Executor LATER =
      CompletableFuture.delayedExecutor(ClampedDuration.millis(GRACE), TimeUnit.MILLISECONDS);

  /// The code that the thread runs.
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

  /// Makes `await` return soon, because the job has failed. Does not wait. Any thread may call it.
  void giveUp(CommException cause) {
    LATER.execute(() -> end.completeExceptionally(new TrainingException.Lost(cause)));
  }

  /// Waits for the training and throws its exception. Throws `TrainingException.Lost` if it was
  /// given up; the training then runs until its next operation fails.
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
