// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.model;

import io.weft.verbs.device.Completions;

/// The path of completions from the device to the polling thread of the transport. All methods
/// except `wake` belong to that thread. Before a wait it calls `prepare` and polls once more. If it
/// finds nothing, it calls `await`. It then calls `resume` in any case.
public interface Polling extends AutoCloseable {

  /// Returns the completions of requests that were posted to send queues.
  Completions sends();

  /// Returns the completions of receives.
  Completions receives();

  /// Makes later completions end an `await`.
  void prepare();

  /// Waits until a completion may have arrived or `wake` is called, for at most `maxNanos`, rounded
  /// up to at least one millisecond.
  void await(long maxNanos);

  /// Ends the preparation for a wait.
  void resume();

  /// Ends the current or the next `await`. Thread-safe.
  void wake();

  /// Stops polling; afterwards no thread accesses the completion queues. Throws
  /// `IllegalStateException` if a separate polling thread has not ended in time.
  @Override
  void close();
}
