// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import io.weft.agent.Ticker;
import io.weft.comm.CommException;
import io.weft.observer.ObservedOperation;
import io.weft.observer.OperationObserver;
import io.weft.observer.OperationStage;
import org.jspecify.annotations.Nullable;

/// The timeline of one rank: the events of its operations, and spans of the layer and of the
/// program. A ring buffer keeps the last of them. Recording an event allocates nothing and takes no
/// lock if its name and thread are known. Thread-safe.
///
/// ```java
/// weft.observe(timeline);
/// try (var _ = timeline.step(n)) {
///   try (var _ = timeline.span("forward")) { … }
/// }
/// ```
public final class Timeline implements OperationObserver {

  /// The minimum number of events that a timeline keeps.
  public static final int FEWEST = 1 << 10;

  /// The maximum number of events that a timeline keeps.
  public static final int MOST = 1 << 22;

  private final Ticker ticker;
  private final EventRing ring;
  private final NameTable names = new NameTable();
  private final ThreadTable threads = new ThreadTable();
  private volatile boolean recording = true;

  /// Creates a timeline, which records from now on.
  ///
  /// @param ticker the clock of the progress thread
  /// @param events the number of kept events, from `FEWEST` to `MOST`, rounded up to a power of
  ///   two; 48 bytes each
  public Timeline(Ticker ticker, int events) {
    if (events < FEWEST || events > MOST) {
      throw new IllegalArgumentException(
          "a timeline keeps " + FEWEST + " to " + MOST + " events, not " + events);
    }
    this.ticker = ticker;
    this.ring = new EventRing(Integer.highestOneBit(2 * events - 1));
  }

  /// Resumes recording after `stop`.
  public void start() {
    recording = true;
  }

  /// Suspends recording until `start`; recorded events remain. Spans that end during the suspension
  /// are lost.
  public void stop() {
    recording = false;
  }

  /// Returns true if the timeline records.
  public boolean isRecording() {
    return recording;
  }

  /// Returns the current time, by the clock of the events.
  public long nanos() {
    return ticker.nanos();
  }

  /// Begins a span of computation with this name.
  public Span span(String name) {
    return span(SpanCategory.COMPUTE, name);
  }

  /// Begins a span. Allocates it.
  public Span span(SpanCategory category, String name) {
    return new Span(this, category, name, nanos(), -1);
  }

  /// Begins step `number` of the program, which lasts until the span is closed.
  public Span step(long number) {
    return new Span(this, SpanCategory.STEP, "step", nanos(), number);
  }

  /// Records a completed span. Names that are used once fill the table of names, so programs should
  /// use few names.
  ///
  /// Hot path.
  ///
  /// @param detail rank for which this rank waited, number of a step, or -1
  public void record(
      SpanCategory category, String name, long begunNanos, long endedNanos, long detail) {
    if (recording) {
      add(EventKind.SPAN, category.code(), name, begunNanos, 0, endedNanos, detail);
    }
  }

  // --- events of the rank's operations

  @Override
  public boolean hearsStages() {
    return recording;
  }

  /// Hot path.
  @Override
  public void submitted(ObservedOperation operation) {
    if (recording) {
      long at = operation.submittedNanos();
      add(
          EventKind.SUBMITTED,
          0,
          operation.name(),
          at == 0 ? nanos() : at,
          key(operation),
          operation.bytes(),
          operation.communicator());
    }
  }

  @Override
  public void withdrawn(ObservedOperation operation, CommException cause, long nanos) {
    if (recording) {
      add(EventKind.WITHDRAWN, 0, operation.name(), nanos, key(operation), -1, -1);
    }
  }

  /// Hot path.
  @Override
  public void reached(ObservedOperation operation, OperationStage stage, int exchange, long nanos) {
    if (!recording) {
      return;
    }
    if (stage == OperationStage.STARTED) {
      add(
          EventKind.STARTED,
          0,
          operation.name(),
          nanos,
          key(operation),
          operation.sequence(),
          operation.communicator());
      return;
    }
    add(kind(stage), 0, operation.name(), nanos, key(operation), exchange, -1);
  }

  /// Hot path.
  @Override
  public void ended(ObservedOperation operation, @Nullable CommException failure, long nanos) {
    if (!recording) {
      return;
    }
    EventKind kind = failure == null ? EventKind.DONE : EventKind.FAILED;
    add(kind, 0, operation.name(), nanos, key(operation), operation.lastHeard(), -1);
    OperationEvent.commit(operation, failure, nanos);
  }

  // --- for the timeline's file

  EventRing ring() {
    return ring;
  }

  NameTable names() {
    return names;
  }

  ThreadTable threads() {
    return threads;
  }

  private void add(
      EventKind kind,
      int category,
      String name,
      long nanos,
      long operation,
      long value,
      long detail) {
    long header = EventRing.header(kind.code(), category, threads.number(), names.number(name));
    ring.add(header, nanos, operation, value, detail);
  }

  /// Returns the operation's id with its service in the last two bits, because each service counts
  /// ids separately.
  private static long key(ObservedOperation operation) {
    int service =
        switch (operation.service()) {
          case KV_WORKER, KV_SERVER -> 0; // both count by the channel's numbers
          case COLLECTIVE -> TimelineEvent.COLLECTIVE;
          case RENDEZVOUS -> 2;
          case CHANNEL -> 3;
        };
    return operation.id() << 2 | service;
  }

  private static EventKind kind(OperationStage stage) {
    return switch (stage) {
      case STARTED -> EventKind.STARTED;
      case EXCHANGE -> EventKind.EXCHANGE;
      case NEGOTIATED -> EventKind.NEGOTIATED;
      case SENT -> EventKind.SENT;
      case REDUCED -> EventKind.REDUCED;
    };
  }
}
