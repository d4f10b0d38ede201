// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.frame;

import java.util.List;

/// The report of one rank in a round.
///
/// @param lastOperation name of the rank's last operation; empty = none yet
/// @param idleMillis time since that operation, in milliseconds
/// @param announcements announcements in the order in which they happened
public record RankReport(String lastOperation, long idleMillis, List<Announcement> announcements) {

  /// The empty report.
  public static final RankReport NONE = new RankReport("", 0, List.of());

  /// Copies the list.
  public RankReport {
    announcements = List.copyOf(announcements);
  }
}
