// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.worker;

import io.weft.agent.AgentRunner;
import io.weft.comm.CommException;
import io.weft.comm.CompletableHandle;
import io.weft.kv.event.TableOperation;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/// A single handle for the requests of a push, pull or call. It is done when all of them have
/// completed, because they borrow its memory until then. Any thread.
///
/// @param <T> the result
public final class KvHandle<T> extends CompletableHandle<T> {

  private final List<AgentRunner> runners;
  private final TableOperation operation;
  private final String words;
  private final Supplier<? extends @Nullable T> result;
  private final @Nullable WholePush whole;
  private final AtomicInteger left = new AtomicInteger(1);
  private volatile @Nullable CommException failure;
  private boolean stopped;

  /// @param runners of the lanes; a waiting thread drives the first
  /// @param words a description of the operation and its rank, for errors
  /// @param operation notifies the observers; ends with the handle
  /// @param result called once, when all requests have succeeded
  /// @param whole is notified of the requests of a push or pull, and determines the handle's
  ///   failure; null = the first failure
  KvHandle(
      List<AgentRunner> runners,
      String words,
      TableOperation operation,
      Supplier<? extends @Nullable T> result,
      @Nullable WholePush whole) {
    this.runners = runners;
    this.words = words;
    this.operation = operation;
    this.result = result;
    this.whole = whole;
  }

  /// The outcome of a failed request.
  enum Fate {
    /// The shard has executed it.
    DONE,
    /// The shard has not executed it, and will not.
    NOT_DONE,
    /// It is unknown whether the shard has executed it.
    UNKNOWN,
    /// The shard has reported that the table has ended.
    ENDED
  }

  /// Returns a description of the operation and its rank.
  String words() {
    return words;
  }

  @Override
  protected String description() {
    return words;
  }

  @Override
  protected AgentRunner runner() {
    return runners.getFirst();
  }

  @Override
  protected boolean isCompletedHere() {
    return runners.stream().anyMatch(AgentRunner::isInside);
  }

  /// Adds a request to the handle. Before `sealed`.
  void add() {
    left.incrementAndGet();
  }

  /// Records the completion of a request. If it failed, `cause` is its failure. The first failure
  /// counts.
  void ended(@Nullable CommException cause) {
    if (cause != null) {
      synchronized (this) {
        if (failure == null) {
          failure = cause;
        }
      }
    }
    if (left.decrementAndGet() == 0) {
      end();
    }
  }

  /// Records the start of a request for the whole.
  void begun() {
    if (whole != null) {
      whole.begun();
    }
  }

  /// Records the server that has answered a request.
  void heard(int server) {
    operation.heard(server);
  }

  void failed(ShardRequest.What what, Fate fate, CommException cause) {
    if (whole != null) {
      whole.failed(what, fate, cause);
    }
    ended(cause);
  }

  /// Records that a request could not be sent, so that the remaining requests need not be sent.
  /// Called by the sending thread.
  void stop() {
    stopped = true;
  }

  /// Returns whether a request could not be sent.
  boolean isStopped() {
    return stopped;
  }

  /// Returns whether no request is in progress, before `sealed`.
  boolean isIdle() {
    return left.get() == 1;
  }

  /// Records that all requests have been added. Called once.
  public void sealed() {
    ended(null);
  }

  private void end() {
    CommException cause = failure;
    T value = null;
    if (cause != null && whole != null) {
      cause = whole.judge(cause);
    } else if (cause == null) {
      try {
        value = result.get();
      } catch (RuntimeException | Error defect) {
        cause = failureOf(defect, -1);
      }
    }
    operation.ended(cause);
    var unused = cause == null ? complete(value) : fail(cause);
  }
}
