// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.timeline;

import io.weft.telemetry.timeline.EventKind;
import io.weft.telemetry.timeline.TimelineEvent;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashMap;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// The operations of one rank that have begun and not ended, while its events are read. Their
/// number is bounded: beyond it, the oldest is dropped. One thread.
final class OpenOperations {

  private static final int MOST = 1 << 13;

  /// The maximum number of points of an operation; of a schedule with many exchanges, the first are
  /// kept.
  private static final int MOST_POINTS = 64;

  private final LinkedHashMap<Long, Pending> open = new LinkedHashMap<>();
  private final BitSet lanes = new BitSet();

  OpenOperations() {}

  private static final class Pending {

    private final String name;
    private final int lane;
    private final List<TracedOperation.Point> points = new ArrayList<>();
    private long communicator;
    private long use = -1;
    private long bytes;

    Pending(String name, int lane) {
      this.name = name;
      this.lane = lane;
    }
  }

  /// Takes an event of an operation. Returns the operation if this was its end and its beginning
  /// was read.
  @Nullable TracedOperation take(TimelineEvent event) {
    switch (event.kind()) {
      case SUBMITTED -> {
        Pending pending = begin(event);
        pending.bytes = event.value();
        pending.communicator = event.detail();
      }
      case STARTED -> {
        Pending pending = open.get(event.operation());
        if (pending == null) {
          pending = begin(event);
        }
        pending.use = event.value();
        pending.communicator = event.detail();
        point(pending, event);
      }
      case EXCHANGE, NEGOTIATED, SENT, REDUCED -> {
        Pending pending = open.get(event.operation());
        if (pending != null) {
          point(pending, event);
        }
      }
      case DONE, FAILED -> {
        return end(event);
      }
      case WITHDRAWN -> {
        Pending pending = open.remove(event.operation());
        if (pending != null) {
          lanes.clear(pending.lane);
        }
      }
      case SPAN -> throw new IllegalArgumentException("a span is not an operation");
    }
    return null;
  }

  /// Returns the operations that have not ended, with the end of the timeline as their end.
  List<TracedOperation> left(long nanos) {
    List<TracedOperation> left = new ArrayList<>();
    for (Pending pending : open.values()) {
      long last = pending.points.getLast().nanos();
      left.add(traced(pending, Math.max(last, nanos), -1, null));
    }
    return left;
  }

  private Pending begin(TimelineEvent event) {
    if (open.size() == MOST) {
      Pending oldest = open.pollFirstEntry().getValue();
      lanes.clear(oldest.lane);
    }
    Pending begun = new Pending(event.name(), lanes.nextClearBit(0));
    Pending before = open.put(event.operation(), begun);
    if (before != null) {
      lanes.clear(before.lane);
    }
    lanes.set(begun.lane);
    point(begun, event);
    return begun;
  }

  private static void point(Pending pending, TimelineEvent event) {
    if (pending.points.size() < MOST_POINTS) {
      pending.points.add(new TracedOperation.Point(event.kind(), event.nanos()));
    }
  }

  private @Nullable TracedOperation end(TimelineEvent event) {
    Pending pending = open.remove(event.operation());
    if (pending == null) {
      return null;
    }
    lanes.clear(pending.lane);
    pending.points.add(new TracedOperation.Point(event.kind(), event.nanos()));
    return traced(pending, event.nanos(), (int) event.value(), event.kind());
  }

  private static TracedOperation traced(
      Pending pending, long endedNanos, int lastHeard, @Nullable EventKind end) {
    return new TracedOperation(
        new TracedOperation.Use(pending.communicator, pending.name, pending.use),
        pending.lane,
        pending.bytes,
        pending.points,
        endedNanos,
        lastHeard,
        end);
  }
}
