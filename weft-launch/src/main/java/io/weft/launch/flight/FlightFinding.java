// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.flight;

import java.util.List;

/// A finding of the logs' analysis.
///
/// @param kind kind of the finding
/// @param ranks ranks that it concerns
/// @param operation the stalled operation, `allreduce 'dense/kernel'`; empty = none
/// @param use number of the name's use, from 1; 0 = none
/// @param words finding in words, on one line
public record FlightFinding(
    FindingKind kind, List<Integer> ranks, String operation, int use, String words) {

  /// Copies the list.
  public FlightFinding {
    ranks = List.copyOf(ranks);
  }

  /// The kinds of findings, the most significant first.
  public enum FindingKind {
    /// The rank's process or connection broke, or it left no file.
    GONE,
    /// The rank closed in order while others waited for it.
    LEFT,
    /// Ranks submitted different operations under one name.
    DISAGREED,
    /// The rank never submitted an operation in which others waited.
    NEVER_SUBMITTED,
    /// The rank waited in an earlier use of the name than others.
    BEHIND,
    /// Two ranks each waited for an operation that the other had not submitted.
    CROSSED,
    /// The rank's progress thread stood still.
    STOOD_STILL,
    /// All ranks had submitted the operation, but segments did not arrive.
    WAITED
  }
}
