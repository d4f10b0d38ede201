// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.timeline;

import io.weft.agent.Ticker;
import io.weft.comm.CommException;
import io.weft.observer.ObservedOperation;
import io.weft.observer.OperationObserver;
import io.weft.observer.OperationStage;
import org.jspecify.annotations.Nullable;

/// What one rank did when: the events of its operations, and spans of the layer and of the program,
/// in a ring in memory that keeps the last of them. Recording an event allocates nothing and takes
/// no lock once its name and its thread are known. Thread-safe.
///
/// ```java
/// weft.observe(timeline);
/// try (var _ = timeline.step(n)) {
///   try (var _ = timeline.span("forward")) { … }
/// }
/// ```
public final class Timeline implements OperationObserver {

  /// Fewest and most events that a timeline keeps.
  public static final int FEWEST = 1 << 10;

  /// See `FEWEST`.
  public static final int MOST = 1 << 22;

  private final Ticker ticker;
  private final EventRing ring;
  private final NameTable names = new NameTable();
  private final ThreadTable threads = new ThreadTable();
  private volatile boolean recording = true;

  /// One that records from now on.
  ///
  /// @param ticker the clock of the progress thread
  /// @param events how many it keeps, from `FEWEST` to `MOST`, rounded up to a power of two; 48
  ///   bytes each
  public Timeline(Ticker ticker, int events) {
    if (events < FEWEST || events > MOST) {
      throw new IllegalArgumentException(
          "a timeline keeps " + FEWEST + " to " + MOST + " events, not " + events);
    }
    this.ticker = ticker;
    this.ring = new EventRing(Integer.highestOneBit(2 * events - 1));
  }

  /// Records again after `stop`.
  public void start() {
    recording = true;
  }

  /// Records nothing until `start`; what is there stays. Spans that end meanwhile are lost.
  public void stop() {
    recording = false;
  }

  /// Whether it records.
  public boolean isRecording() {
    return recording;
  }

  /// Now, by the clock of its events.
  public long nanos() {
    return ticker.nanos();
  }

  /// The program computes under this name until the span is closed.
  public Span span(String name) {
    return span(SpanCategory.COMPUTE, name);
  }

  /// A span that begins now. Allocates the span.
  public Span span(SpanCategory category, String name) {
    return new Span(this, category, name, nanos(), -1);
  }

  /// Step `number` of the program begins; it lasts until the span is closed.
  public Span step(long number) {
    return new Span(this, SpanCategory.STEP, "step", nanos(), number);
  }

  /// A span that is over. Names that never come again fill the table of names: use few.
  ///
  /// Hot path.
  ///
  /// @param detail rank that was waited for, number of a step, or -1
  public void record(
      SpanCategory category, String name, long begunNanos, long endedNanos, long detail) {
    if (recording) {
      add(EventKind.SPAN, category.code(), name, begunNanos, 0, endedNanos, detail);
    }
  }

  // --- what the operations of the rank do

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

  // --- for its file

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

  /// Ids are counted for each service.
  private static long key(ObservedOperation operation) {
    int service =
        switch (operation.service()) {
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
