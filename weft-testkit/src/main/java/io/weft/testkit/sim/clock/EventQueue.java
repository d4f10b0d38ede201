// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim.clock;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/// The scheduled events in order of time and, within one moment, of their scheduling, so that equal
/// seeds give equal orders on every machine. They form a heap of four children per node with keys
/// in arrays [Knuth, TAOCP 3, 5.2.3]. Confined to the thread that holds the scheduler.
public final class EventQueue {

  private static final int CHILDREN_SHIFT = 2;

  private @Nullable ScheduledEvent[] events = new ScheduledEvent[1024];
  private long[] nanos = new long[1024];
  private long[] sequences = new long[1024];
  private int size;
  private long scheduled;
  private long happened;
  private long now;

  /// Creates a queue at time 0 without events.
  public EventQueue() {}

  /// Returns the present virtual time, in nanoseconds from 0.
  public long now() {
    return now;
  }

  /// Returns the number of events that have happened.
  public long happened() {
    return happened;
  }

  /// Schedules an event that is not scheduled; a moment in the past means now.
  public void at(long atNanos, ScheduledEvent event) {
    if (event.isDue()) {
      throw new IllegalStateException(event + " is due already");
    }
    if (size == events.length) {
      events = Arrays.copyOf(events, 2 * size);
      nanos = Arrays.copyOf(nanos, 2 * size);
      sequences = Arrays.copyOf(sequences, 2 * size);
    }
    size++;
    up(event, Math.max(atNanos, now), scheduled++, size - 1);
  }

  /// Schedules an event for this moment unless it is already scheduled earlier.
  public void notAfter(long atNanos, ScheduledEvent event) {
    if (event.isDue()) {
      if (nanos[event.position] <= atNanos) {
        return;
      }
      cancel(event);
    }
    at(atNanos, event);
  }

  /// Cancels an event; has no effect if it is not scheduled.
  public void cancel(ScheduledEvent event) {
    int hole = event.position;
    if (hole != ScheduledEvent.NOWHERE) {
      event.position = ScheduledEvent.NOWHERE;
      fill(hole);
    }
  }

  /// Returns the time of the next event; `Long.MAX_VALUE` if there is none.
  public long nextNanos() {
    return size == 0 ? Long.MAX_VALUE : nanos[0];
  }

  /// Advances to the next event and runs it. Returns false, and changes nothing, if there is none
  /// up to `limitNanos`.
  ///
  /// Hot path.
  public boolean step(long limitNanos) {
    if (size == 0 || nanos[0] > limitNanos) {
      return false;
    }
    ScheduledEvent next = event(0);
    now = nanos[0];
    next.position = ScheduledEvent.NOWHERE;
    fill(0);
    happened++;
    next.happen();
    return true;
  }

  /// Advances time to this moment, by which all events must have happened.
  public void pass(long atNanos) {
    if (nextNanos() <= atNanos) {
      throw new IllegalStateException("an event at " + nextNanos() + " ns has not happened yet");
    }
    now = Math.max(now, atNanos);
  }

  private ScheduledEvent event(int index) {
    ScheduledEvent event = events[index];
    if (event == null) {
      throw new IllegalStateException("the heap has a hole");
    }
    return event;
  }

  /// Closes a hole with the last event.
  private void fill(int hole) {
    size--;
    ScheduledEvent last = event(size);
    events[size] = null;
    if (hole < size) {
      long at = nanos[size];
      long sequence = sequences[size];
      if (hole > 0 && isBefore(at, sequence, (hole - 1) >> CHILDREN_SHIFT)) {
        up(last, at, sequence, hole);
      } else {
        down(last, at, sequence, hole);
      }
    }
  }

  private boolean isBefore(long at, long sequence, int index) {
    return at < nanos[index] || (at == nanos[index] && sequence < sequences[index]);
  }

  private void up(ScheduledEvent event, long at, long sequence, int from) {
    int index = from;
    while (index > 0) {
      int above = (index - 1) >> CHILDREN_SHIFT;
      if (!isBefore(at, sequence, above)) {
        break;
      }
      place(event(above), nanos[above], sequences[above], index);
      index = above;
    }
    place(event, at, sequence, index);
  }

  private void down(ScheduledEvent event, long at, long sequence, int from) {
    int index = from;
    while (true) {
      int first = (index << CHILDREN_SHIFT) + 1;
      if (first >= size) {
        break;
      }
      int least = first;
      int end = Math.min(size, first + (1 << CHILDREN_SHIFT));
      for (int child = first + 1; child < end; child++) {
        if (isBefore(nanos[child], sequences[child], least)) {
          least = child;
        }
      }
      if (isBefore(at, sequence, least)) {
        break;
      }
      place(event(least), nanos[least], sequences[least], index);
      index = least;
    }
    place(event, at, sequence, index);
  }

  private void place(ScheduledEvent event, long at, long sequence, int index) {
    events[index] = event;
    nanos[index] = at;
    sequences[index] = sequence;
    event.position = index;
  }
}
