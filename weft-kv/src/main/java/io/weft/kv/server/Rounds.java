// SPDX-License-Identifier: Apache-2.0
package io.weft.kv.server;

import io.weft.kv.frame.Ahead;
import io.weft.kv.spec.Consistency;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The pushes of a synchronous table that wait for those of other workers: for each clock one of
/// each worker. Pure: no thread, no time. Confined to the shard's thread.
///
/// @param <P> a push
final class Rounds<P> {

  private final int workers;
  private final int backup;
  private final boolean[] left;
  private final List<Round<P>> open = new ArrayList<>(Ahead.CLOCKS);
  private long applied;
  private long until = Long.MAX_VALUE;
  private long dropped;

  Rounds(int workers, Consistency consistency) {
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

  /// What becomes of a push.
  enum Place {
    /// It waits for the others.
    KEPT,
    /// Its clock was applied without it, by the rule of backup workers.
    LATE,
    /// Its worker is too far ahead: later.
    EARLY
  }

  /// Where a worker's push of this clock, from 1, belongs; `KEPT`: call `keep`.
  Place place(long clock) {
    if (clock <= applied) {
      return Place.LATE;
    }
    return clock > applied + Ahead.CLOCKS ? Place.EARLY : Place.KEPT;
  }

  /// A push came too late and is dropped.
  void drop() {
    dropped++;
  }

  /// Keeps the push of a worker for a clock whose place is `KEPT`; the one that it had kept for it,
  /// or null.
  @Nullable P keep(int worker, long clock, P push) {
    int index = (int) (clock - applied - 1);
    while (open.size() <= index) {
      open.add(new Round<>(workers));
    }
    return open.get(index).byWorker.set(worker, push);
  }

  /// Nobody waits for this worker any more; what it has pushed counts.
  void leave(int worker) {
    left[worker] = true;
  }

  /// The pushes of the next clock in the order of their workers, if enough are there; else null.
  /// They are the caller's, to be applied.
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

  /// Workers that are there and have not pushed at the next clock.
  List<Integer> missing() {
    List<Integer> missing = new ArrayList<>();
    for (int i = 0; i < workers; i++) {
      if (!left[i] && (open.isEmpty() || open.getFirst().byWorker.get(i) == null)) {
        missing.add(i);
      }
    }
    return missing;
  }

  /// Whether the push of a worker for this clock was kept, or its clock was applied.
  boolean has(int worker, long clock) {
    int index = (int) Math.min(clock - applied - 1, Integer.MAX_VALUE);
    return index < 0 || (index < open.size() && open.get(index).byWorker.get(worker) != null);
  }

  /// The pushes that wait are the caller's; no clock comes any more.
  List<P> end() {
    List<P> waiting = new ArrayList<>();
    forEach((clock, worker, push) -> waiting.add(push));
    open.clear();
    return waiting;
  }

  /// Sees the pushes that wait.
  interface KeptVisitor<P> {

    /// @param clock of the push
    /// @param worker who has sent it
    void push(long clock, int worker, P push);
  }

  /// Shows the pushes that wait, by clock.
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

  /// From now on no clock beyond this one is applied.
  void holdAt(long clock) {
    until = clock;
  }

  /// So many clocks count as applied; before any push.
  void begin(long clock) {
    applied = clock;
  }

  /// How many clocks were applied.
  long applied() {
    return applied;
  }

  /// How many pushes of workers came too late.
  long dropped() {
    return dropped;
  }

  /// Whether a pull of a worker that has pushed so often may be answered.
  boolean lets(long clock) {
    return clock <= applied;
  }
}
