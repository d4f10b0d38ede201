// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A resource in the dependency tree of a device. Closing a resource first closes its dependents:
/// queue pairs before all others, so that no more work is posted, then newest first. A failure does
/// not stop the closing; it is thrown at the end. All resources of one device share one lock.
abstract class Owned implements AutoCloseable {

  private final List<Owned> owners;
  private final List<Owned> dependents = new ArrayList<>();
  private final Object lock;
  private boolean closed;

  /// Creates the root of a tree.
  Owned() {
    owners = List.of();
    lock = this;
  }

  /// Creates a resource that depends on all of these, which belong to one tree.
  Owned(List<? extends Owned> owners) {
    this.owners = List.copyOf(owners);
    Owned first = owners.getFirst();
    lock = first.lock;
  }

  /// Runs a library call that needs this resource, which remains open during the call. Throws
  /// `IllegalStateException` if it is closed.
  final <T> T whileOpen(Supplier<T> call) {
    synchronized (lock) {
      if (closed) {
        throw new IllegalStateException(this + " is closed");
      }
      return call.get();
    }
  }

  /// Wraps a new library resource in an object that its owners will close. If that fails, the
  /// method releases the resource.
  static <T extends Owned> T take(Supplier<T> made, Runnable giveBack) {
    try {
      T resource = made.get();
      resource.enter();
      return resource;
    } catch (RuntimeException e) {
      giveBack.run();
      throw e;
    }
  }

  /// Adds the resource to its owners, which will close it. Throws `IllegalStateException` if one of
  /// them is closed.
  final void enter() {
    synchronized (lock) {
      for (Owned owner : owners) {
        if (owner.closed) {
          throw new IllegalStateException(owner + " is closed");
        }
      }
      owners.forEach(owner -> owner.dependents.add(this));
    }
  }

  /// Releases the library resource; it has no dependents left. Throws `VerbsException`.
  abstract void release();

  /// Returns whether it must end before its siblings.
  boolean endsFirst() {
    return false;
  }

  /// Throws `IllegalStateException` if it must not be closed separately now.
  void mayClose() {}

  /// Closes this resource and its dependents. A second call has no effect. Throws `VerbsException`
  /// if the device refused to release one of them; even then, none can be used any more.
  @Override
  public final void close() {
    synchronized (lock) {
      if (closed) {
        return;
      }
      mayClose();
      RuntimeException failure = end(null);
      if (failure != null) {
        throw failure;
      }
    }
  }

  private @Nullable RuntimeException end(@Nullable RuntimeException before) {
    if (closed) {
      return before;
    }
    closed = true;
    RuntimeException failure = before;
    List<Owned> last = new ArrayList<>();
    for (Owned dependent : List.copyOf(dependents).reversed()) {
      if (dependent.endsFirst()) {
        failure = dependent.end(failure);
      } else {
        last.add(dependent);
      }
    }
    for (Owned dependent : last) {
      failure = dependent.end(failure);
    }
    try {
      release();
    } catch (RuntimeException e) {
      if (failure == null) {
        failure = e;
      } else {
        failure.addSuppressed(e);
      }
    }
    owners.forEach(owner -> owner.dependents.remove(this));
    return failure;
  }
}
