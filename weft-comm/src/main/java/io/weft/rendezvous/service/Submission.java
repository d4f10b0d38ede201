// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import org.jspecify.annotations.Nullable;

/// What a user thread wants of the progress thread; a link of the queue itself, so that queueing
/// allocates nothing.
abstract class Submission {

  /// In the queue.
  @Nullable Submission next;

  /// On the progress thread, or once it is over on the thread that submitted it.
  abstract void enter(MeshRendezvous rendezvous);

  /// It has thrown this as it entered.
  void broken(MeshRendezvous rendezvous, Throwable thrown) {
    // What enters nothing has nothing to end.
  }
}
