// SPDX-License-Identifier: Apache-2.0
package io.weft.comm;

import io.weft.agent.AgentRunner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/// Handles of operations that were submitted together.
public final class Handles {

  private Handles() {}

  /// Returns one handle for all of these handles. It is done when all are, because they borrow
  /// their memory until then. Completes with the results in the order of `parts`; or fails with the
  /// failure of the first failed one in this order, or with `refusal`, and passes the results of
  /// the others to `discard`. A waiter drives the agent of the first part.
  ///
  /// @param parts any number; no result is null
  /// @param refusal the reason why further operations were not submitted; null if all were
  ///   submitted
  public static <T> Handle<List<T>> all(
      List<? extends Handle<T>> parts,
      @Nullable CommException refusal,
      Consumer<? super T> discard) {
    List<Handle<T>> all = List.copyOf(parts);
    return completeWith(new Group<>(all), all, refusal, discard);
  }

  /// Completes or fails `into` as `all` does, and returns it.
  public static <T> Handle<List<T>> completeWith(
      CompletableHandle<List<T>> into,
      List<? extends Handle<T>> parts,
      @Nullable CommException refusal,
      Consumer<? super T> discard) {
    Ends<T> ends = new Ends<>(into, parts.size(), refusal, discard);
    for (Handle<T> part : parts) {
      End<T> end = new End<>(ends);
      ends.ends.add(end);
      part.whenDone(end);
    }
    ends.countDown();
    return into;
  }

  /// The end of one part; null fields before it.
  private static final class End<T> implements BiConsumer<@Nullable T, @Nullable CommException> {
    private final Ends<T> all;
    private @Nullable T result;
    private @Nullable CommException cause;

    End(Ends<T> all) {
      this.all = all;
    }

    @Override
    public void accept(@Nullable T its, @Nullable CommException failure) {
      result = its;
      cause = failure;
      all.countDown();
    }
  }

  /// The ends of a group's parts. Any thread; the decrements of `left` order the writes of all
  /// threads before the reads of the last one.
  private static final class Ends<T> {
    private final CompletableHandle<List<T>> into;
    private final List<End<T>> ends;
    private final @Nullable CommException refusal;
    private final Consumer<? super T> discard;
    private final AtomicInteger left;

    Ends(
        CompletableHandle<List<T>> into,
        int parts,
        @Nullable CommException refusal,
        Consumer<? super T> discard) {
      this.into = into;
      this.ends = new ArrayList<>(parts);
      this.refusal = refusal;
      this.discard = discard;
      this.left = new AtomicInteger(parts + 1);
    }

    void countDown() {
      if (left.decrementAndGet() > 0) {
        return;
      }
      List<T> results = new ArrayList<>(ends.size());
      CommException first = null;
      for (End<T> end : ends) {
        if (end.result != null) {
          results.add(end.result);
        } else if (first == null) {
          first = end.cause;
        }
      }
      CommException cause = first == null ? refusal : first;
      if (cause == null) {
        into.complete(List.copyOf(results));
        return;
      }
      results.forEach(discard);
      into.fail(cause);
    }
  }

  /// The handle of a group. Its wait begins and times out as those of its parts do.
  private static final class Group<T> extends CompletableHandle<List<T>> {
    private final List<Handle<T>> parts;

    Group(List<Handle<T>> parts) {
      this.parts = parts;
    }

    @Override
    protected String description() {
      return parts.size()
          + " operations"
          + (parts.isEmpty() ? "" : ", the first of which is " + parts.getFirst());
    }

    @Override
    protected @Nullable AgentRunner runner() {
      return !parts.isEmpty() && parts.getFirst() instanceof CompletableHandle<T> first
          ? first.runner()
          : null;
    }

    @Override
    protected boolean isCompletedHere() {
      for (Handle<T> part : parts) {
        if (part instanceof CompletableHandle<T> completable
            && !part.isDone()
            && completable.isCompletedHere()) {
          return true;
        }
      }
      return false;
    }

    @Override
    protected void beforeWait() {
      for (Handle<T> part : parts) {
        if (part instanceof CompletableHandle<T> completable && !part.isDone()) {
          completable.beforeWait();
        }
      }
    }

    @Override
    protected void abandoned() {
      for (Handle<T> part : parts) {
        if (part instanceof CompletableHandle<T> completable && !part.isDone()) {
          completable.abandoned();
        }
      }
    }

    @Override
    protected CommException.TimedOut timedOut(Duration waited) {
      for (Handle<T> part : parts) {
        if (part instanceof CompletableHandle<T> completable && !part.isDone()) {
          return completable.timedOut(waited);
        }
      }
      return super.timedOut(waited);
    }
  }
}
