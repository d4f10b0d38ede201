// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.choice;

import java.util.Objects;

/// The result of a table lookup for one collective and length, with its reason.
///
/// @param way how bytes are transferred between ranks
/// @param algorithm the algorithm that assigns work to ranks
/// @param segments segments in which a long tensor is sent; for a mailbox, its slots
/// @param rule location and text of the line that decided
/// @param reason reason of the rule, without a full stop, and the line that gave the segments
public record Choice(Way way, String algorithm, Segments segments, String rule, String reason) {
  public Choice {
    Objects.requireNonNull(way, "way");
    Objects.requireNonNull(algorithm, "algorithm");
    Objects.requireNonNull(segments, "segments");
    Objects.requireNonNull(rule, "rule");
    Objects.requireNonNull(reason, "reason");
  }

  /// Creates the choice of `line` with segments by `segmentLine`. For a mailbox, which has slots,
  /// both are the same line.
  static Choice of(TableLine.ForCollective line, Segments segments, TableLine segmentLine) {
    String reason =
        line == segmentLine
            ? line.why()
            : line.why() + "; " + segmentLine.rule() + ": " + segmentLine.why();
    return new Choice(line.way(), line.algorithm(), segments, line.rule(), reason);
  }
}
