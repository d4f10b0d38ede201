// SPDX-License-Identifier: Apache-2.0
/// Timelines: operations and spans of each rank in a ring buffer, comparison of the ranks' clocks,
/// and files.
///
/// ```java
/// var timeline = new Timeline(Ticker.SYSTEM, Timeline.FEWEST);
/// weft.observe(timeline);
/// timeline.start();
/// try (var _ = timeline.step(1);
///     var _ = timeline.span("forward")) {
///   // The program computes here.
/// }
/// ```
@NullMarked
package io.weft.telemetry.timeline;

import org.jspecify.annotations.NullMarked;
