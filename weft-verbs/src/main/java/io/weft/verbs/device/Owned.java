// SPDX-License-Identifier: Apache-2.0
package io.weft.verbs.device;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A resource of a device in the tree of who needs whom. Whoever is closed first closes what
/// depends on it: queue pairs before all others, so that no work is posted any more, then newest
/// first. A failure on the way stops nothing; it is thrown at the end. All resources of one device
/// share one lock.
abstract class Owned implements AutoCloseable {

  private final List<Owned> owners;
  private final List<Owned> dependents = new ArrayList<>();
  private final Object lock;
  private boolean closed;

  /// The root of a tree.
  Owned() {
    owners = List.of();
    lock = this;
  }

  /// Depends on all of these, which are of one tree.
  Owned(List<? extends Owned> owners) {
    this.owners = List.copyOf(owners);
    Owned first = owners.getFirst();
    lock = first.lock;
  }

  /// Calls the library for something that this resource is needed for: it is open as long as the
  /// call takes. Throws `IllegalStateException` if it is closed.
  final <T> T whileOpen(Supplier<T> call) {
    synchronized (lock) {
      if (closed) {
        throw new IllegalStateException(this + " is closed");
      }
      return call.get();
    }
  }

  /// Takes over what the library has made: an object for it that its owners close from here on.
  /// Where that fails, it is given back.
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

  /// The resource exists: from here on its owners close it. Throws `IllegalStateException` if one
  /// of them is closed.
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

  /// Gives it back; nothing depends on it any more. Throws `VerbsException`.
  abstract void release();

  /// Whether it must end before its siblings.
  boolean endsFirst() {
    return false;
  }

  /// Throws `IllegalStateException` if it may not be closed by itself now.
  void mayClose() {}

  /// Ends this resource and what depends on it. A second call has no effect. Throws
  /// `VerbsException` if the device refused one of them; all the same none of them is used any
  /// more.
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
