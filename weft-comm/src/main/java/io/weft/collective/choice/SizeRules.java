// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.choice;

import java.util.ArrayList;
import java.util.List;

/// The rules of one collective that are left when ranks and hosts are known: only the length of a
/// tensor decides between them. Immutable.
public final class SizeRules {

  private static final Segments SLOTS = new Segments(Way.SLOT_BYTES, Way.SLOTS, true);

  /// Lengths with the same choice; of those that overlap the first one counts.
  private record Range(long least, long most, Choice choice) {

    /// Lengths that fulfil all conditions.
    static Range of(List<Condition> conditions, int ranks, Choice choice) {
      long least = 0;
      long most = Long.MAX_VALUE;
      for (Condition condition : conditions) {
        least = Math.max(least, condition.leastBytes(ranks));
        most = Math.min(most, condition.mostBytes(ranks));
      }
      return new Range(least, most, choice);
    }
  }

  private final Range[] ranges;
  private final List<TableLine.ForWay> segments;
  private final int ranks;

  /// Of lines that hold for these ranks, in order.
  SizeRules(List<TableLine.ForCollective> lines, List<TableLine.ForWay> segments, int ranks) {
    this.segments = List.copyOf(segments);
    this.ranks = ranks;
    List<Range> found = new ArrayList<>();
    for (TableLine.ForCollective line : lines) {
      if (line.way() == Way.MAILBOX) {
        found.add(Range.of(line.conditions(), ranks, Choice.of(line, SLOTS, line)));
      }
      for (TableLine.ForWay each : segments) {
        if (each.way() == line.way()) {
          List<Condition> both = new ArrayList<>(line.conditions());
          both.addAll(each.conditions());
          found.add(Range.of(both, ranks, Choice.of(line, each.segments(), each)));
        }
      }
    }
    ranges = found.stream().filter(range -> range.least <= range.most).toArray(Range[]::new);
  }

  /// The rule for tensors of this length.
  ///
  /// Hot path.
  public Choice at(long bytes) {
    for (Range range : ranges) {
      if (bytes >= range.least && bytes <= range.most) {
        return range.choice;
      }
    }
    throw new IllegalStateException("a table ends with a rule that always holds");
  }

  /// Way and algorithm that a caller has asked for, for tensors of this length; the table says in
  /// which segments.
  public Choice asked(Way way, String algorithm, long bytes) {
    for (TableLine.ForWay line : segments) {
      var choice = new Choice(way, algorithm, line.segments(), "by the caller", "it was asked for");
      Range range = Range.of(line.conditions(), ranks, choice);
      if (line.way() == way && bytes >= range.least && bytes <= range.most) {
        return choice;
      }
    }
    throw new IllegalStateException("a table ends with segments of each way");
  }
}
