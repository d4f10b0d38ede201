// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.service;

import io.weft.comm.CommException;
import io.weft.observer.ObservedOperation;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// An operation that was checked and is ready to be submitted. On a user thread.
///
/// @param operation null where the handle makes it, if there need be one
/// @param limit how long it may wait for room
record PreparedOperation<T>(
    PendingHandle<T> handle, @Nullable Operation<T> operation, Duration limit) {

  /// Throws `TimedOut` if there is no room for it; it is withdrawn then.
  void submit() {
    try {
      enter(handle.owner().collectives());
    } catch (CommException full) {
      CommException cause = handle.owner().refused(handle.operationName(), full);
      tellWithdrawn(cause);
      withdraw();
      throw cause;
    } catch (RuntimeException | Error thrown) {
      withdraw();
      throw thrown;
    }
  }

  private void enter(Collectives collectives) {
    Operation<T> started = operation;
    if (started != null) {
      collectives.observer().submitted(started);
      collectives.commands().submit(() -> collectives.begin(started), limit);
    } else if (handle instanceof InlineOperation<T> inline) {
      collectives.observer().submitted(inline);
      collectives.commands().defer(inline, limit);
    }
  }

  private void tellWithdrawn(CommException cause) {
    MeshCommunicator owner = handle.owner();
    ObservedOperation told = handle instanceof InlineOperation<T> inline ? inline : operation;
    if (told != null) {
      owner.collectives().observer().withdrawn(told, cause, owner.runner().nanos());
    }
  }

  /// It is not submitted: ends what it has.
  void withdraw() {
    if (operation != null) {
      operation.withdraw();
    }
    handle.withdraw();
  }
}
