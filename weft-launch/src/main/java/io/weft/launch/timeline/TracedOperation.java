// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.timeline;

import io.weft.dataparallel.timeline.EventKind;
import io.weft.dataparallel.timeline.SpanCategory;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An operation of one rank, put together from its events. Times are the rank's own.
///
/// @param name of its tensor
/// @param lane operations of one lane do not overlap
/// @param communicator its key
/// @param use how often the name was used before; -1 if that is not in the timeline
/// @param bytes length of the tensor
/// @param points what it reached when, from its submission to its end
/// @param endedNanos when it ended; the end of the timeline where it had not
/// @param lastHeard rank that was heard of last, or -1
/// @param end `DONE` or `FAILED`; null: it had not ended
record TracedOperation(
    String name,
    int lane,
    long communicator,
    long use,
    long bytes,
    List<Point> points,
    long endedNanos,
    int lastHeard,
    @Nullable EventKind end) {

  /// Something it reached.
  record Point(EventKind kind, long nanos) {}

  /// A part of its time.
  record Phase(SpanCategory category, long begunNanos, long endedNanos) {}

  TracedOperation {
    points = List.copyOf(points);
  }

  long submittedNanos() {
    return points.getFirst().nanos();
  }

  /// What lies between two points is what leads to the later one.
  List<Phase> phases() {
    List<Phase> phases = new ArrayList<>();
    for (int i = 1; i < points.size(); i++) {
      Point to = points.get(i);
      long from = points.get(i - 1).nanos();
      if (to.nanos() > from) {
        phases.add(new Phase(category(to.kind()), from, to.nanos()));
      }
    }
    return phases;
  }

  private static SpanCategory category(EventKind reached) {
    return switch (reached) {
      case SUBMITTED, STARTED, EXCHANGE, WITHDRAWN, SPAN -> SpanCategory.QUEUE;
      case NEGOTIATED -> SpanCategory.NEGOTIATE;
      case SENT -> SpanCategory.SEND;
      case REDUCED -> SpanCategory.REDUCE;
      case DONE, FAILED -> SpanCategory.COPY_OUT;
    };
  }
}
