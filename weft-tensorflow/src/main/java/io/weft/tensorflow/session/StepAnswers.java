// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// What the tasks of a step say of it, this one included. The first failure that does not only
/// follow from another is the step's. Any thread.
final class StepAnswers {

  private final Set<Integer> open;
  private final Runnable stop;
  private @Nullable Failure failure;

  /// @param ranks the other ranks that were asked
  /// @param stop what to do when the step has failed; once, on the thread that tells of it; must
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

  /// The task of this rank has failed, and will say no more of the step.
  void failed(int rank, Failure why) {
    synchronized (this) {
      open.remove(rank);
    }
    fail(why);
  }

  /// The rank is lost; it matters while it is waited for.
  void lost(int rank, Failure why) {
    synchronized (this) {
      if (!open.remove(rank)) {
        return;
      }
    }
    fail(why);
  }

  /// The step has failed; the others still have something to say.
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

  /// Ranks that have not answered.
  synchronized Set<Integer> open() {
    return Set.copyOf(open);
  }

  synchronized Optional<Failure> failure() {
    return Optional.ofNullable(failure);
  }

  /// Waits until all have answered or the step has failed; false if neither was so in time.
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

  /// Waits a little until all have answered: what they say may explain a failure.
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
