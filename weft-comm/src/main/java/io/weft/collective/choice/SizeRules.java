// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.choice;

import java.util.ArrayList;
import java.util.List;

/// The rules of one collective that remain when ranks and hosts are known. Only the length of a
/// tensor decides between them. Immutable.
public final class SizeRules {

  private static final Segments SLOTS = new Segments(Way.SLOT_PAYLOAD_BYTES, Way.SLOTS, true);

  /// A range of lengths with one result. The first of overlapping ranges counts.
  record Range<T>(long least, long most, T taken) {

    static <T> Range<T> of(List<Condition> conditions, int ranks, T taken) {
      long least = 0;
      long most = Long.MAX_VALUE;
      for (Condition condition : conditions) {
        least = Math.max(least, condition.leastBytes(ranks));
        most = Math.min(most, condition.mostBytes(ranks));
      }
      return new Range<>(least, most, taken);
    }

    boolean has(long bytes) {
      return bytes >= least && bytes <= most;
    }
  }

  private final List<Range<Choice>> choices = new ArrayList<>();
  private final List<Range<TableLine.ForWay>> segments = new ArrayList<>();

  /// Creates the rules from the lines that match these ranks, in order.
  SizeRules(List<TableLine.ForCollective> lines, List<TableLine.ForWay> segmentLines, int ranks) {
    for (TableLine.ForWay line : segmentLines) {
      segments.add(Range.of(line.conditions(), ranks, line));
    }
    for (TableLine.ForCollective line : lines) {
      if (line.way() == Way.MAILBOX) {
        choices.add(Range.of(line.conditions(), ranks, Choice.of(line, SLOTS, line)));
      }
      for (TableLine.ForWay each : segmentLines) {
        if (each.way() == line.way()) {
          List<Condition> both = new ArrayList<>(line.conditions());
          both.addAll(each.conditions());
          choices.add(Range.of(both, ranks, Choice.of(line, each.segments(), each)));
        }
      }
    }
  }

  /// Returns the choice for tensors of this length.
  ///
  /// Hot path.
  public Choice at(long bytes) {
    for (int i = 0; i < choices.size(); i++) {
      if (choices.get(i).has(bytes)) {
        return choices.get(i).taken;
      }
    }
    throw new IllegalStateException("a table ends with a rule that always holds");
  }

  /// Returns the segments in which MAPPED or WIRE sends tensors of this length.
  ///
  /// Hot path.
  public Segments segments(Way way, long bytes) {
    for (int i = 0; i < segments.size(); i++) {
      Range<TableLine.ForWay> range = segments.get(i);
      if (range.taken.way() == way && range.has(bytes)) {
        return range.taken.segments();
      }
    }
    throw new IllegalStateException("a table ends with segments of each way");
  }
}
