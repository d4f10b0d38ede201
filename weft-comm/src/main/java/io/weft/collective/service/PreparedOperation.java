// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.comm.CommException;
import io.weft.observer.ObservedOperation;

/// An operation that was checked and is ready to be submitted. On a user thread.
interface PreparedOperation<T> extends ObservedOperation {

  /// The user's handle of it.
  PendingHandle<T> handle();

  /// Gives it to the progress thread. Throws `CommException` if there is no room for it within its
  /// deadline.
  void enter(Collectives collectives);

  /// It is not submitted: ends what it has.
  void withdraw();

  /// Throws `TimedOut` if there is no room for it; it is withdrawn then.
  default void submit() {
    MeshCommunicator owner = handle().owner();
    try {
      owner.collectives().observer().submitted(this);
      enter(owner.collectives());
    } catch (CommException full) {
      CommException cause = owner.refused(handle().operationName(), full);
      owner.collectives().observer().withdrawn(this, cause, owner.runner().nanos());
      withdraw();
      throw cause;
    } catch (RuntimeException | Error thrown) {
      withdraw();
      throw thrown;
    }
  }
}
