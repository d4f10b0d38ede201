// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.timeline;

import java.util.Objects;

/// Whose timeline a file is and what is in it.
///
/// @param job name of the job
/// @param rank whose it is
/// @param size ranks in the job
/// @param host where the rank ran
/// @param recorded events that were recorded
/// @param kept those of them that are in the file
/// @param firstNanos time of the earliest one, by the rank's own clock
/// @param lastNanos end of the latest one
public record TimelineHeader(
    String job,
    int rank,
    int size,
    String host,
    long recorded,
    long kept,
    long firstNanos,
    long lastNanos) {
  /// Throws `NullPointerException` where a part is missing.
  public TimelineHeader {
    Objects.requireNonNull(job, "job");
    Objects.requireNonNull(host, "host");
  }
}
