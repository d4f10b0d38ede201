// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel;

import io.weft.dataparallel.timeline.SpanCategory;
import io.weft.dataparallel.timeline.Timeline;
import org.jspecify.annotations.Nullable;

/// Records into a timeline what the layer does; without one, nothing. Thread-safe.
final class LayerSpans {

  /// Records nothing.
  static final LayerSpans NONE = new LayerSpans(null);

  private final @Nullable Timeline timeline;

  LayerSpans(@Nullable Timeline timeline) {
    this.timeline = timeline;
  }

  /// Now, by the clock of the timeline; 0 while nothing is recorded.
  ///
  /// Hot path.
  long now() {
    Timeline into = timeline;
    return into == null || !into.isRecording() ? 0 : into.nanos();
  }

  /// A span from `begunNanos` until now, where both were recorded.
  ///
  /// Hot path.
  void record(SpanCategory category, String name, long begunNanos) {
    if (begunNanos != 0) {
      record(category, name, begunNanos, now());
    }
  }

  /// A span that is over.
  ///
  /// Hot path.
  void record(SpanCategory category, String name, long begunNanos, long endedNanos) {
    Timeline into = timeline;
    if (into != null && begunNanos != 0 && endedNanos != 0) {
      into.record(category, name, begunNanos, endedNanos, -1);
    }
  }
}
