// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.model;

/// How finished work gets from the device to the thread that turns the transport. All methods but
/// `wake` belong to that thread. Whoever wants to wait calls `prepare`, polls once more, calls
/// `await` if there was nothing, and then `resume` in any case.
public interface Polling extends AutoCloseable {

  /// Of requests that were posted to send queues.
  Completions sends();

  /// Of receives.
  Completions receives();

  /// From here on, what finishes ends an `await`.
  void prepare();

  /// Waits until something may have finished or somebody wakes, at most so long, but at least a
  /// millisecond.
  void await(long maxNanos);

  /// The wait is over.
  void resume();

  /// Ends the present or the next `await`. Any thread.
  void wake();

  /// Ends polling: afterwards nobody touches the completion queues. Throws `IllegalStateException`
  /// if the thread that polls has not ended in time.
  @Override
  void close();
}
