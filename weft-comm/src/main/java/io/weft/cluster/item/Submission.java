// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster.item;

import org.jspecify.annotations.Nullable;

/// What a user thread wants of a service; a link of the queue itself, so that queueing allocates
/// nothing.
///
/// @param <C> the service
public abstract class Submission<C> {

  /// In the queue.
  @Nullable Submission<C> next;

  /// In no queue.
  protected Submission() {}

  /// On the progress thread, or once that is over on the thread that submitted it.
  protected abstract void enter(C service);

  /// It has thrown this as it entered. By default it has begun nothing that is to be ended.
  protected void broken(C service, Throwable thrown) {}
}
