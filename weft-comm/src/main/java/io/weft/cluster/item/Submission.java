// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.item;

import org.jspecify.annotations.Nullable;

/// A submission of a user thread to a service. It is itself a link of the queue, so that queueing
/// allocates nothing.
///
/// @param <C> the service
public abstract class Submission<C> {

  /// The next link in the queue.
  @Nullable Submission<C> next;

  /// Creates a submission outside any queue.
  protected Submission() {}

  /// Executes the submission, on the progress thread, or on the submitting thread after the agent
  /// has ended.
  protected abstract void enter(C service);

  /// Cleans up after `enter` has thrown. By default there is nothing to clean up.
  protected void broken(C service, Throwable thrown) {}
}
