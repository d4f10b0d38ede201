// SPDX-License-Identifier: Apache-2.0
package io.weft.telemetry.timeline;

import java.util.Objects;

/// The owner and the extent of a timeline file.
///
/// @param job name of the job
/// @param rank rank that recorded the timeline
/// @param size ranks in the job
/// @param host host of the rank
/// @param recorded number of recorded events
/// @param kept number of events in the file
/// @param firstNanos time of the earliest event, by the rank's own clock
/// @param lastNanos end of the latest event
public record TimelineHeader(
    String job,
    int rank,
    int size,
    String host,
    long recorded,
    long kept,
    long firstNanos,
    long lastNanos) {
  /// Throws `NullPointerException` if the job or the host is null.
  public TimelineHeader {
    Objects.requireNonNull(job, "job");
    Objects.requireNonNull(host, "host");
  }
}
