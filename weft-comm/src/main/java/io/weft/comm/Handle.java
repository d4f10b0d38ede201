// SPDX-License-Identifier: Apache-2.0
package io.weft.comm;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// A running operation. It cannot be cancelled, because one rank cannot leave a collective alone;
/// see `Communicator.abort`. Any thread.
public interface Handle<T> {

  /// Returns whether `await` would return or throw at once.
  boolean isDone();

  /// Waits for the result. Throws `CommException.TimedOut` after `timeout`. This timeout is soft:
  /// the operation continues and its buffers stay borrowed, as they do after an interrupt. Throws
  /// the operation's own `CommException` if it failed. Throws `IllegalStateException` in a callback
  /// on the thread that runs the agent, unless the operation is done, because the call would wait
  /// for itself.
  T await(Duration timeout) throws InterruptedException;

  /// Waits until the operation completes, fails, or reaches its hard deadline, which fails it.
  T await() throws InterruptedException;

  /// Calls `action` once with the result or the failure. The action runs on the completing thread
  /// (the progress thread, or a waiting caller), or at once on this thread if the operation is
  /// done. It must not block. An exception that it throws is logged.
  void whenDone(BiConsumer<? super @Nullable T, ? super @Nullable CommException> action);

  /// Returns a future that completes as the operation does. Completing or cancelling the future
  /// does not affect the operation.
  CompletableFuture<T> toCompletableFuture();
}
