// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.timeline;

import io.weft.telemetry.timeline.EventKind;
import io.weft.telemetry.timeline.SpanCategory;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// An operation of one rank, assembled from its events. Times are by the rank's own clock.
///
/// @param use the identity of the operation
/// @param lane number of its lane; operations of one lane do not overlap
/// @param bytes length of the tensor
/// @param points its events with their times, from its submission to its end
/// @param endedNanos its end, or the end of the timeline
/// @param lastHeard rank from which data arrived last, or -1
/// @param end `DONE` or `FAILED`; null = it had not ended
record TracedOperation(
    Use use,
    int lane,
    long bytes,
    List<Point> points,
    long endedNanos,
    int lastHeard,
    @Nullable EventKind end) {

  /// The identity of an operation, equal on all ranks.
  ///
  /// @param communicator key of the communicator
  /// @param name name of its tensor
  /// @param number number of earlier uses of the name; -1 = not in the timeline
  record Use(long communicator, String name, long number) {}

  record Point(EventKind kind, long nanos) {}

  record Phase(SpanCategory category, long begunNanos, long endedNanos) {}

  TracedOperation {
    points = List.copyOf(points);
  }

  long submittedNanos() {
    return points.getFirst().nanos();
  }

  /// Returns the phases. The time between two points belongs to the later one.
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
