// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.frame;

import java.util.List;

/// All that one rank tells in a round.
///
/// @param lastOperation what it has done last; empty = nothing so far
/// @param idleMillis how long ago
/// @param announcements in the order in which they happened
public record RankReport(String lastOperation, long idleMillis, List<Announcement> announcements) {

  /// Nothing is told.
  public static final RankReport NONE = new RankReport("", 0, List.of());

  /// Copies the list.
  public RankReport {
    announcements = List.copyOf(announcements);
  }
}
