// SPDX-License-Identifier: Apache-2.0
package io.weft.comm;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/// A running operation. There is no cancel: one rank cannot leave a collective alone; see
/// `Communicator.abort`. Any thread.
public interface Handle<T> {

  /// Whether `await` would return (or throw) at once.
  boolean isDone();

  /// Waits for the result. Throws `CommException.TimedOut` after `timeout`; that is soft: the
  /// operation runs on and its buffers stay borrowed, as they do after an interrupt. Throws the
  /// operation's own `CommException` if it failed, and `IllegalStateException` if it is not done in
  /// a callback, on a thread that turns the agent: it would wait for itself.
  T await(Duration timeout) throws InterruptedException;

  /// Waits until the operation's own hard deadline ends it one way or the other.
  T await() throws InterruptedException;

  /// Calls `action` once with result or failure, on the completing thread (the progress thread's,
  /// or that of a caller that waits) or at once on this one if it is done. The action must not
  /// block; what it throws, which it should not, is logged.
  void whenDone(BiConsumer<? super @Nullable T, ? super @Nullable CommException> action);

  /// A copy for interoperation: completing or cancelling it changes nothing here.
  CompletableFuture<T> toCompletableFuture();
}
