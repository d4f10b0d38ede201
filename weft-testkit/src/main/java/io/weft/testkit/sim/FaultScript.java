// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.sim;

import java.util.ArrayList;
import java.util.List;

/// The faults of one run. Immutable.
///
/// @param faults in any order
public record FaultScript(List<Fault> faults) {

  /// Nothing goes wrong.
  public static final FaultScript NONE = new FaultScript(List.of());

  /// Copies the list.
  public FaultScript {
    faults = List.copyOf(faults);
  }

  /// The same and one more.
  public FaultScript and(Fault fault) {
    List<Fault> more = new ArrayList<>(faults);
    more.add(fault);
    return new FaultScript(more);
  }
}
