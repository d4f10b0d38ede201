// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.frame;

import java.util.List;

/// The report of one rank in a round.
///
/// @param lastOperation name of the rank's last operation; empty = none yet
/// @param idleMillis time since that operation, in milliseconds
/// @param announcements announcements in the order in which they happened
public record RoundReport(String lastOperation, long idleMillis, List<Announcement> announcements) {

  /// The empty report.
  public static final RoundReport NONE = new RoundReport("", 0, List.of());

  /// Copies the list.
  public RoundReport {
    announcements = List.copyOf(announcements);
  }
}
