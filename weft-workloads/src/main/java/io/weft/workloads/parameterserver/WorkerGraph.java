// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import java.time.Duration;
import org.tensorflow.proto.GraphDef;

/// A worker's graph, placed on the tasks, and the runtime that runs it.
///
/// @param replica the graph without devices
/// @param placed the graph with a device for each node
/// @param opener of sessions
/// @param limit of a step
record WorkerGraph(Replica replica, GraphDef placed, GraphSession.Opener opener, Duration limit) {

  /// Opens a session, which the caller closes.
  GraphSession open() throws InterruptedException {
    return opener.open(placed, limit);
  }
}
