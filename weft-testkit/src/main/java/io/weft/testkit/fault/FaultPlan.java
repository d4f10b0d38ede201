// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

import java.util.List;
import java.util.stream.Collectors;

/// What goes wrong in a job: a list of faults. Immutable.
///
/// Written as `cut=0-1@2s; corrupt=1>2@4096; stall=0,1-2,3:3s@500ms; delay=*-*:20ms`, that is
/// `KIND=LINKS[:AMOUNT][@MOMENT]` for each fault. Links are two groups of ranks with `-` (both
/// ways) or `>` (one way) between them; `*` is every rank, `?` one that is drawn. Kinds are those
/// of `ConnectionFault.FaultKind` and `any`, which is drawn. A moment is a time, or a number of
/// bytes (`64K`). Amount and moment may be ranges to draw from: `2s..5s`. Two more items say what
/// draws are made from: `seed=7` (default 0) and `ranks=4`.
///
/// @param faults in the order in which they were written
public record FaultPlan(List<ConnectionFault> faults) {

  /// Copies the list.
  public FaultPlan {
    faults = List.copyOf(faults);
  }

  /// Nothing goes wrong.
  public static FaultPlan none() {
    return new FaultPlan(List.of());
  }

  /// Reads a plan, with everything drawn: the same text gives the same plan. Throws
  /// `IllegalArgumentException` with the item that is wrong and what is allowed.
  public static FaultPlan parse(String text) {
    return parse(text, 0);
  }

  /// The same for a job of `ranks` ranks, where the text does not say how many.
  public static FaultPlan parse(String text, int ranks) {
    return new PlanText(text, ranks).plan();
  }

  /// As `parse` reads it, with everything drawn.
  @Override
  public String toString() {
    return faults.stream().map(ConnectionFault::toString).collect(Collectors.joining("; "));
  }
}
