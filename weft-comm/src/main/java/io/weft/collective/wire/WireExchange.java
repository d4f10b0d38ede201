// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.wire;

import io.weft.collective.choice.Segments;
import io.weft.collective.exchange.CollectiveContext;
import io.weft.collective.exchange.RunningOperation;

/// One exchange as its streams see it.
///
/// @param operation that it belongs to
/// @param stage what is sent and received
/// @param stageIndex its number in the operation
/// @param context what it uses of the mesh
/// @param memory where everything lies
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
