// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.flight;

import java.util.List;

/// One thing that the logs show.
///
/// @param kind what sort of thing
/// @param ranks whom it points at
/// @param operation the operation in dispute, `allreduce 'dense/kernel'`; empty where there is none
/// @param use which use of its name, from 1; 0 where there is none
/// @param words a line for people
public record FlightFinding(
    FindingKind kind, List<Integer> ranks, String operation, int use, String words) {

  /// Copies the list.
  public FlightFinding {
    ranks = List.copyOf(ranks);
  }

  /// What logs can show, the most telling first.
  public enum FindingKind {
    /// The rank's process or connection broke, or it left no file.
    GONE,
    /// The rank closed in order while others waited for it.
    LEFT,
    /// Ranks submitted different things under one name.
    DISAGREED,
    /// The rank never submitted what others waited in.
    NEVER_SUBMITTED,
    /// The rank waited in an earlier use of the name that others waited in.
    BEHIND,
    /// Ranks waited for operations that the other has not submitted, crosswise.
    CROSSED,
    /// The rank's progress thread stood still.
    STOOD_STILL,
    /// All had submitted it, and segments did not come.
    WAITED
  }
}
