// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.choice;

import java.util.Objects;

/// What a table says of a collective of one length: how it is done, and why.
///
/// @param way how bytes come from rank to rank
/// @param algorithm who does what
/// @param segments in which a long tensor travels; of a mailbox, its slots
/// @param rule where the line stands that decided, and what it says
/// @param reason why, without a full stop; with the line that gave the segments
public record Choice(Way way, String algorithm, Segments segments, String rule, String reason) {
  /// Throws `NullPointerException` where a part is missing.
  public Choice {
    Objects.requireNonNull(way, "way");
    Objects.requireNonNull(algorithm, "algorithm");
    Objects.requireNonNull(segments, "segments");
    Objects.requireNonNull(rule, "rule");
    Objects.requireNonNull(reason, "reason");
  }

  /// By this line, in segments by that one; by a mailbox, which has slots, both are the same.
  static Choice of(TableLine.ForCollective line, Segments segments, TableLine segmentLine) {
    String reason =
        line == segmentLine
            ? line.why()
            : line.why() + "; " + segmentLine.rule() + ": " + segmentLine.why();
    return new Choice(line.way(), line.algorithm(), segments, line.rule(), reason);
  }
}
