// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.timeline;

import io.weft.launch.timeline.Intervals.Interval;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// Where the time of the steps of one rank went. One thread.
///
/// *Exposed* communication is the time from the last submission of a step until the last end of an
/// operation that was submitted in it; where the program records what it computes, it is the time
/// during which operations run and nothing is computed. Of that, *waiting* is the time before the
/// last rank had submitted the same operation.
final class RankTime {

  private final int rank;
  private final Map<Integer, Long> waitedFor = new TreeMap<>();
  private long steps;
  private long stepNanos;
  private long exposedNanos;
  private long waitingNanos;

  RankTime(int rank) {
    this.rank = rank;
  }

  /// An operation of this rank; times by rank 0's clock.
  ///
  /// @param lastNanos when the last rank submitted it
  /// @param lastRank which one that was
  record Sent(long submittedNanos, long endedNanos, long lastNanos, int lastRank) {}

  /// Counts a step.
  ///
  /// @param sent operations that were submitted in it
  /// @param computed what the program recorded of itself in it; perhaps nothing
  void step(long from, long to, List<Sent> sent, List<Interval> computed) {
    steps++;
    stepNanos += Math.max(0, to - from);
    if (sent.isEmpty() || to <= from) {
      return;
    }
    Intervals exposed = exposed(from, to, sent, computed);
    exposedNanos += exposed.nanos();
    long counted = from;
    List<Sent> inOrder =
        sent.stream().sorted(Comparator.comparingLong(Sent::submittedNanos)).toList();
    for (Sent operation : inOrder) {
      long begin = Math.max(counted, operation.submittedNanos());
      long end = Math.min(operation.endedNanos(), operation.lastNanos());
      if (operation.lastRank() != rank && end > begin) {
        long waited = exposed.overlap(begin, end);
        if (waited > 0) {
          waitedFor.merge(operation.lastRank(), waited, Long::sum);
          waitingNanos += waited;
        }
        counted = end;
      }
    }
  }

  private static Intervals exposed(long from, long to, List<Sent> sent, List<Interval> computed) {
    List<Interval> running = new ArrayList<>();
    if (computed.isEmpty()) {
      long last = sent.stream().mapToLong(Sent::submittedNanos).max().orElse(to);
      long end = sent.stream().mapToLong(Sent::endedNanos).max().orElse(to);
      running.add(new Interval(last, end));
      return Intervals.union(running, from, to);
    }
    sent.forEach(each -> running.add(new Interval(each.submittedNanos(), each.endedNanos())));
    return Intervals.union(running, from, to).without(Intervals.union(computed, from, to));
  }

  int rank() {
    return rank;
  }

  long steps() {
    return steps;
  }

  long stepNanos() {
    return stepNanos;
  }

  /// Of it, what was neither computing nor waiting.
  long exposedNanos() {
    return exposedNanos - waitingNanos;
  }

  long waitingNanos() {
    return waitingNanos;
  }

  /// By rank.
  Map<Integer, Long> waitedFor() {
    return waitedFor;
  }
}
