// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.wire;

import io.weft.collective.choice.Segments;
import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.exchange.RunningOperation;

/// One exchange as its streams see it.
///
/// @param operation the operation of this exchange
/// @param stage the segments to send and receive
/// @param stageIndex number of the stage in the operation
/// @param context services of the mesh
/// @param memory memory of the exchange
record WireExchange(
    RunningOperation operation,
    WireStage stage,
    int stageIndex,
    CollectiveContext context,
    WireBuffers memory) {

  Segments segments() {
    return memory.segments();
  }
}
