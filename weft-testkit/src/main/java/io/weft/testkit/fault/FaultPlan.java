// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

import java.util.List;
import java.util.stream.Collectors;

/// The faults of a job. Immutable.
///
/// A plan is written as `cut=0-1@2s; corrupt=1>2@4096; stall=0,1-2,3:3s@500ms; delay=*-*:20ms`,
/// that is `KIND=LINKS[:AMOUNT][@MOMENT]` for each fault. Links are two groups of ranks with `-`
/// (both directions) or `>` (one direction) between them; `*` is every rank, `?` a random one.
/// Kinds are those of `ConnectionFault.FaultKind` and `any`, a random kind. A moment is a time, or
/// a number of bytes (`64K`). Amount and moment may be ranges from which a value is drawn:
/// `2s..5s`. Two more items determine the random values: `seed=7` (default 0) and `ranks=4`.
///
/// @param faults in the order in which they were written
public record FaultPlan(List<ConnectionFault> faults) {

  /// Copies the list.
  public FaultPlan {
    faults = List.copyOf(faults);
  }

  /// Returns a plan without faults.
  public static FaultPlan none() {
    return new FaultPlan(List.of());
  }

  /// Parses a plan and draws all random values: equal texts give equal plans. Throws
  /// `IllegalArgumentException` with the wrong item and the allowed values.
  public static FaultPlan parse(String text) {
    return parse(text, 0);
  }

  /// Parses a plan for a job of `ranks` ranks, unless the text has a number of ranks.
  public static FaultPlan parse(String text, int ranks) {
    return new PlanText(text, ranks).plan();
  }

  /// Returns the plan as `parse` reads it, with the drawn values.
  @Override
  public String toString() {
    return faults.stream().map(ConnectionFault::toString).collect(Collectors.joining("; "));
  }
}
