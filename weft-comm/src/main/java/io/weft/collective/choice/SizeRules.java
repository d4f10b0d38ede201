// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.choice;

import java.util.ArrayList;
import java.util.List;

/// The rules of one collective that are left when ranks and hosts are known: only the length of a
/// tensor decides between them. Immutable.
public final class SizeRules {

  private record Rung(long least, long most, Rule rule) {}

  private final Rung[] rungs;

  /// Of the lines of one collective that hold for this layout.
  SizeRules(List<TableLine> lines, int ranks) {
    List<Rung> found = new ArrayList<>();
    for (TableLine line : lines) {
      long least = 0;
      long most = Long.MAX_VALUE;
      for (Condition condition : line.conditions()) {
        least = Math.max(least, condition.leastBytes(ranks));
        most = Math.min(most, condition.mostBytes(ranks));
      }
      if (least <= most) {
        found.add(new Rung(least, most, line.rule()));
      }
    }
    rungs = found.toArray(Rung[]::new);
  }

  /// The rule for tensors of this length.
  ///
  /// Hot path.
  public Rule at(long bytes) {
    for (Rung rung : rungs) {
      if (bytes >= rung.least && bytes <= rung.most) {
        return rung.rule;
      }
    }
    throw new IllegalStateException("a table ends with a rule that always holds");
  }
}
