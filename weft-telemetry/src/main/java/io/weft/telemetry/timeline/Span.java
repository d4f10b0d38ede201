// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

/// An open span of a timeline, from `Timeline.span` to `close`. One thread.
public final class Span implements AutoCloseable {

  private final Timeline timeline;
  private final SpanCategory category;
  private final String name;
  private final long begun;
  private final long detail;

  Span(Timeline timeline, SpanCategory category, String name, long begun, long detail) {
    this.timeline = timeline;
    this.category = category;
    this.name = name;
    this.begun = begun;
    this.detail = detail;
  }

  /// Ends the span and records it.
  @Override
  public void close() {
    timeline.record(category, name, begun, timeline.nanos(), detail);
  }
}
