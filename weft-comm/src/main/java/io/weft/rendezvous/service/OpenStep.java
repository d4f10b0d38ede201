// SPDX-License-Identifier: Apache-2.0
package io.weft.rendezvous.service;

import io.weft.comm.CommException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// The pending sides of one step. Confined to the progress thread.
final class OpenStep {

  private final long number;
  private @Nullable PendingSide first;
  private @Nullable CommException failure;

  OpenStep(long number) {
    this.number = number;
  }

  long number() {
    return number;
  }

  /// The reason why the step was aborted, or null.
  @Nullable CommException failure() {
    return failure;
  }

  /// Aborts the step. Only the first reason counts.
  void fail(CommException cause) {
    failure = Objects.requireNonNullElse(failure, cause);
  }

  /// Hot path.
  void add(PendingSide pending) {
    PendingSide second = first;
    pending.step = this;
    pending.before = null;
    pending.after = second;
    if (second != null) {
      second.before = pending;
    }
    first = pending;
  }

  /// Hot path.
  void remove(PendingSide pending) {
    PendingSide before = pending.before;
    PendingSide after = pending.after;
    if (before == null) {
      first = after;
    } else {
      before.after = after;
    }
    if (after != null) {
      after.before = before;
    }
    pending.before = null;
    pending.after = null;
    pending.step = null;
  }

  void forEach(Consumer<? super PendingSide> action) {
    for (PendingSide pending = first; pending != null; pending = pending.after) {
      action.accept(pending);
    }
  }

  /// Returns a copy of the list, which stays valid when the step changes.
  List<PendingSide> all() {
    var all = new ArrayList<PendingSide>();
    forEach(all::add);
    return all;
  }
}
