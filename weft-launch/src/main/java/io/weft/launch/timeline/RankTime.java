// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.timeline;

import io.weft.launch.timeline.Intervals.Interval;
import io.weft.telemetry.timeline.Waiting;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/// The use of time in the steps of one rank. One thread.
///
/// *Exposed* communication is the time from the last submission of a step until the last end of an
/// operation that was submitted in it. If the program records its computation, exposed
/// communication is instead the time in which operations run and nothing is computed. *Waiting*, as
/// `Waiting` defines it, is the part of it before the last rank had submitted the same operation.
///
/// If a `DataParallel` records its work, communication begins with a tensor's submission to it and
/// ends when the result is copied. Exposed time that is not waiting is then divided further. The
/// time in which no tensor is on the wire counts as *copies* into and out of fusion buffers, else
/// as *queue* if a tensor is ready on all ranks, else as *negotiation*.
final class RankTime {

  private final int rank;
  private final Map<Integer, Long> waitedFor = new TreeMap<>();
  private long steps;
  private long stepNanos;
  private long exposedNanos;
  private long waitingNanos;
  private long negotiationNanos;
  private long queueNanos;
  private long copyNanos;

  RankTime(int rank) {
    this.rank = rank;
  }

  /// An operation of this rank; times are by rank 0's clock.
  ///
  /// @param lastNanos time at which the last rank submitted it
  /// @param lastRank the rank that submitted it last
  /// @param negotiates true if it belongs to the negotiation
  record Sent(
      long submittedNanos, long endedNanos, long lastNanos, int lastRank, boolean negotiates) {}

  /// The recorded work of data parallelism; times are by rank 0's clock.
  record Layer(List<Interval> negotiated, List<Interval> queued, List<Interval> copied) {}

  /// Adds a step.
  ///
  /// @param sent operations that were submitted before its end and ended after its beginning
  /// @param computed recorded computation of the program in the step; may be empty
  /// @param layer recorded work of data parallelism in the step; may be empty
  void step(long from, long to, List<Sent> sent, List<Interval> computed, Layer layer) {
    steps++;
    stepNanos += Math.max(0, to - from);
    if (sent.isEmpty() || to <= from) {
      return;
    }
    Intervals exposed = exposed(from, to, sent, computed, layer);
    exposedNanos += exposed.nanos();
    List<Interval> waits = new ArrayList<>();
    long counted = from;
    List<Sent> inOrder =
        sent.stream().sorted(Comparator.comparingLong(Sent::submittedNanos)).toList();
    for (Sent operation : inOrder) {
      long begin = Math.max(counted, operation.submittedNanos());
      long end = Waiting.endNanos(operation.endedNanos(), operation.lastNanos());
      if (operation.lastRank() != rank && end > begin) {
        waits.add(new Interval(begin, end));
        long waited = exposed.overlap(begin, end);
        if (waited > 0) {
          waitedFor.merge(operation.lastRank(), waited, Long::sum);
          waitingNanos += waited;
        }
        counted = end;
      }
    }
    if (!layer.negotiated().isEmpty()) {
      Intervals own = exposed.without(Intervals.union(waits, from, to));
      split(own.without(Intervals.union(moving(sent), from, to)), from, to, layer);
    }
  }

  /// @param beside exposed time in which nothing is on the wire
  private void split(Intervals beside, long from, long to, Layer layer) {
    Intervals notCopied = beside.without(Intervals.union(layer.copied(), from, to));
    Intervals notQueued = notCopied.without(Intervals.union(layer.queued(), from, to));
    Intervals rest = notQueued.without(Intervals.union(layer.negotiated(), from, to));
    copyNanos += beside.nanos() - notCopied.nanos();
    queueNanos += notCopied.nanos() - notQueued.nanos();
    negotiationNanos += notQueued.nanos() - rest.nanos();
  }

  /// Returns the operations that move tensors.
  private static List<Interval> moving(List<Sent> sent) {
    return sent.stream()
        .filter(each -> !each.negotiates())
        .map(each -> new Interval(each.submittedNanos(), each.endedNanos()))
        .toList();
  }

  private static Intervals exposed(
      long from, long to, List<Sent> sent, List<Interval> computed, Layer layer) {
    boolean layered = !layer.negotiated().isEmpty();
    List<Interval> running = new ArrayList<>(layer.negotiated());
    running.addAll(layer.queued());
    running.addAll(layer.copied());
    if (layered) {
      running.addAll(moving(sent));
    } else {
      sent.forEach(each -> running.add(new Interval(each.submittedNanos(), each.endedNanos())));
    }
    if (!computed.isEmpty()) {
      return Intervals.union(running, from, to).without(Intervals.union(computed, from, to));
    }
    List<Interval> submissions = layered ? layer.negotiated() : running;
    long last = submissions.stream().mapToLong(Interval::from).max().orElse(to);
    long end = running.stream().mapToLong(Interval::to).max().orElse(to);
    return Intervals.union(List.of(new Interval(last, end)), from, to);
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

  /// Returns the exposed time without waiting.
  long exposedNanos() {
    return exposedNanos - waitingNanos;
  }

  long waitingNanos() {
    return waitingNanos;
  }

  /// Returns the exposed time in which nothing was on the wire and the ranks had not agreed on a
  /// tensor.
  long negotiationNanos() {
    return negotiationNanos;
  }

  /// Returns the exposed time in which nothing was on the wire and a ready tensor had not been
  /// started.
  long queueNanos() {
    return queueNanos;
  }

  /// Returns the exposed time in which nothing was on the wire and tensors were copied.
  long copyNanos() {
    return copyNanos;
  }

  /// Returns the waiting time by the rank that was waited for.
  Map<Integer, Long> waitedFor() {
    return waitedFor;
  }
}
