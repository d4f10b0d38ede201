// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.frame.ClockWindow;
import io.weft.kv.spec.Consistency;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The pushes of a synchronous table that wait for the pushes of other workers: one per worker for
/// each clock. Pure: no threads, no time. Confined to the shard's thread.
///
/// @param <P> a push
final class PushRounds<P> {

  private final int workers;
  private final int backup;
  private final boolean[] left;
  private final List<Round<P>> open = new ArrayList<>(ClockWindow.CLOCKS);
  private long applied;
  private long until = Long.MAX_VALUE;
  private long dropped;

  PushRounds(int workers, Consistency consistency) {
    this.workers = workers;
    this.backup = consistency.backupWorkers();
    this.left = new boolean[workers];
  }

  private static final class Round<P> {
    private final List<@Nullable P> byWorker;

    Round(int workers) {
      byWorker = new ArrayList<>(workers);
      for (int i = 0; i < workers; i++) {
        byWorker.add(null);
      }
    }
  }

  /// The treatment of a push.
  enum Place {
    /// The push waits for the other workers.
    KEPT,
    /// The clock was applied without the push, by the rule of backup workers.
    LATE,
    /// The worker is too far ahead, and must push later.
    EARLY
  }

  /// Returns the treatment of a worker's push of this clock, from 1. For `KEPT` the caller must
  /// call `keep`.
  Place place(long clock) {
    if (clock <= applied) {
      return Place.LATE;
    }
    return clock > applied + ClockWindow.CLOCKS ? Place.EARLY : Place.KEPT;
  }

  /// Counts a push that arrived too late and is dropped.
  void drop() {
    dropped++;
  }

  /// Keeps the push of a worker for a clock whose treatment is `KEPT`. Returns the worker's
  /// previous push for the clock, or null.
  @Nullable P keep(int worker, long clock, P push) {
    int index = (int) (clock - applied - 1);
    while (open.size() <= index) {
      open.add(new Round<>(workers));
    }
    return open.get(index).byWorker.set(worker, push);
  }

  /// Excludes a worker, so that no clock waits for it any more. Its kept pushes remain.
  void leave(int worker) {
    left[worker] = true;
  }

  /// Returns the pushes of the next clock in the order of their workers if enough have arrived,
  /// otherwise null. The caller must apply them.
  @Nullable List<P> takeComplete() {
    if (open.isEmpty() || applied >= until) {
      return null;
    }
    Round<P> first = open.getFirst();
    int here = 0;
    int awaited = 0;
    List<P> pushes = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      P push = first.byWorker.get(i);
      if (push != null) {
        pushes.add(push);
      }
      if (!left[i]) {
        awaited++;
        here += push == null ? 0 : 1;
      }
    }
    if (pushes.isEmpty() || here < awaited - backup) {
      return null;
    }
    open.removeFirst();
    applied++;
    return pushes;
  }

  /// Returns the workers that have not left and have not pushed at the next clock.
  List<Integer> missing() {
    List<Integer> missing = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      if (!left[i] && (open.isEmpty() || open.getFirst().byWorker.get(i) == null)) {
        missing.add(i);
      }
    }
    return missing;
  }

  /// Returns whether the push of a worker for this clock was kept, or the clock was applied.
  boolean has(int worker, long clock) {
    int index = (int) Math.min(clock - applied - 1, Integer.MAX_VALUE);
    return index < 0 || (index < open.size() && open.get(index).byWorker.get(worker) != null);
  }

  /// Removes and returns all waiting pushes. No further clock is applied.
  List<P> end() {
    List<P> waiting = new ArrayList<>();
    forEach((clock, worker, push) -> waiting.add(push));
    open.clear();
    return waiting;
  }

  /// A visitor of the waiting pushes.
  interface KeptVisitor<P> {

    /// @param clock of the push
    /// @param worker the sender of the push
    void push(long clock, int worker, P push);
  }

  /// Visits the waiting pushes, by clock.
  void forEach(KeptVisitor<P> visitor) {
    for (int i = 0; i < open.size(); i++) {
      for (int worker = 0; worker < workers; worker++) {
        P push = open.get(i).byWorker.get(worker);
        if (push != null) {
          visitor.push(applied + 1 + i, worker, push);
        }
      }
    }
  }

  /// Prevents the application of clocks beyond this one.
  void holdAt(long clock) {
    until = clock;
  }

  /// Sets the number of applied clocks, before any push.
  void begin(long clock) {
    applied = clock;
  }

  /// Returns the number of applied clocks.
  long applied() {
    return applied;
  }

  /// Returns the last clock that was applied or that a waiting push has.
  long begun() {
    return applied + open.size();
  }

  /// Returns the number of pushes that arrived too late.
  long dropped() {
    return dropped;
  }

  /// Returns whether a pull of a worker at this clock may be answered.
  boolean lets(long clock) {
    return clock <= applied;
  }
}
