// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.telemetry.timeline.SpanCategory;
import io.weft.telemetry.timeline.Timeline;
import org.jspecify.annotations.Nullable;

/// The recorder of the layer's spans in a timeline. Without a timeline it records nothing.
/// Thread-safe.
final class LayerSpans {

  static final LayerSpans NONE = new LayerSpans(null);

  private final @Nullable Timeline timeline;

  LayerSpans(@Nullable Timeline timeline) {
    this.timeline = timeline;
  }

  /// Returns the time by the timeline's clock; 0 while nothing is recorded.
  ///
  /// Hot path.
  long now() {
    Timeline into = timeline;
    return into == null || !into.isRecording() ? 0 : into.nanos();
  }

  /// Records a span from `begunNanos` until now, if recording was on at both times.
  ///
  /// Hot path.
  void record(SpanCategory category, String name, long begunNanos) {
    if (begunNanos != 0) {
      record(category, name, begunNanos, now());
    }
  }

  /// Records a completed span.
  ///
  /// Hot path.
  void record(SpanCategory category, String name, long begunNanos, long endedNanos) {
    Timeline into = timeline;
    if (into != null && begunNanos != 0 && endedNanos != 0) {
      into.record(category, name, begunNanos, endedNanos, -1);
    }
  }
}
