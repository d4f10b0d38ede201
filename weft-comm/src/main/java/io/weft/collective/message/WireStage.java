// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.message;

import io.weft.collective.exchange.Exchange;
import io.weft.collective.exchange.RunningOperation;
import io.weft.collective.exchange.Stage;
import io.weft.collective.exchange.Wires;
import io.weft.collective.plan.Plan;
import io.weft.tensor.DType;
import io.weft.tensor.kernel.Reducer;
import org.jspecify.annotations.Nullable;

/// An exchange by messages and writes: who sends what to whom, where it lies, how it is combined.
///
/// @param plan the schedule of this rank
/// @param placement the memory
/// @param reducer null where nothing is combined
/// @param dtype element type
/// @param divisor of AVERAGE, 1 = none
public record WireStage(
    Plan plan, Placement placement, @Nullable Reducer reducer, DType dtype, int divisor)
    implements Stage {

  @Override
  public Exchange exchange(RunningOperation operation, int phase, Wires wires) {
    return new WireExchange(operation, this, phase, wires);
  }
}
