// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.comm.CommException;
import io.weft.observer.ObservedOperation;

/// An operation that was checked and is ready to be submitted. On a user thread.
interface PreparedOperation<T> extends ObservedOperation {

  PendingHandle<T> handle();

  @Override
  default Service service() {
    return Service.COLLECTIVE;
  }

  @Override
  default String words() {
    return handle().signature().words();
  }

  @Override
  default long bytes() {
    return handle().signature().bytes();
  }

  /// Passes the operation to the progress thread. Throws `CommException` for lack of room in time.
  void enter(Collectives collectives);

  /// Releases the resources of an operation that is not submitted.
  void withdraw();

  /// Submits the operation. Withdraws it and throws `TimedOut` for lack of room.
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
