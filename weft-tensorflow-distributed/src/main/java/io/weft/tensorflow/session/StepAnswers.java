// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The answers of a step's tasks, including this one. The step's failure is the first one that did
/// not follow from another failure. Any thread.
final class StepAnswers {

  private final Set<Integer> open;
  private final Runnable stop;
  private @Nullable Failure failure;

  /// @param ranks the other ranks of the step
  /// @param stop runs once when the step has failed, on the thread that reports the failure; must
  ///   not block
  StepAnswers(Set<Integer> ranks, Runnable stop) {
    this.open = new HashSet<>(ranks);
    this.stop = stop;
  }

  synchronized void done(int rank) {
    if (open.remove(rank)) {
      notifyAll();
    }
  }

  /// Registers that the task of `rank` has failed and will not answer again.
  void failed(int rank, Failure why) {
    synchronized (this) {
      open.remove(rank);
    }
    fail(why);
  }

  /// Registers the loss of a rank, which fails the step if the rank has not answered.
  void lost(int rank, Failure why) {
    synchronized (this) {
      if (!open.remove(rank)) {
        return;
      }
    }
    fail(why);
  }

  /// Registers a failure of the step. Other ranks may still answer.
  void fail(Failure why) {
    boolean first;
    synchronized (this) {
      Failure known = failure;
      first = known == null;
      if (known == null || (known.echo() && !why.echo())) {
        failure = why;
      }
      notifyAll();
    }
    if (first) {
      stop.run();
    }
  }

  /// Returns the ranks that have not answered.
  synchronized Set<Integer> open() {
    return Set.copyOf(open);
  }

  synchronized Optional<Failure> failure() {
    return Optional.ofNullable(failure);
  }

  /// Waits until all ranks have answered or the step has failed. Returns false at the deadline.
  ///
  /// @param deadline by `System.nanoTime`
  synchronized boolean await(long deadline) throws InterruptedException {
    while (!open.isEmpty() && failure == null) {
      long left = deadline - System.nanoTime();
      if (left <= 0) {
        return false;
      }
      wait(left / 1_000_000, (int) (left % 1_000_000));
    }
    return true;
  }

  /// Waits for all answers or the deadline, because answers may explain a failure.
  synchronized void linger(long deadline) throws InterruptedException {
    while (!open.isEmpty()) {
      long left = deadline - System.nanoTime();
      if (left <= 0) {
        return;
      }
      wait(left / 1_000_000, (int) (left % 1_000_000));
    }
  }
}
