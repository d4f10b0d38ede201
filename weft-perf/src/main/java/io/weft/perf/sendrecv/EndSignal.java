// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.sendrecv;

import java.util.List;
import org.tensorflow.DeviceSpec;
import org.tensorflow.Graph;
import org.tensorflow.op.Ops;
import org.tensorflow.op.io.FifoQueue;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.types.TInt32;

/// The signal by which a consumer tells a producer under TensorFlow's runtime that the measurement
/// has ended. The producer waits on a queue because its server cannot be stopped.
final class EndSignal {

  /// The producer's operation.
  static final String AWAIT = "await";

  /// The consumer's operation.
  static final String LEAVE = "leave";

  private EndSignal() {}

  static GraphDef graph() {
    try (Graph graph = new Graph()) {
      Ops producer =
          Ops.create(graph).withDevice(DeviceSpec.newBuilder().job(Tasks.PRODUCER).task(0).build());
      FifoQueue queue =
          producer.io.fifoQueue(List.of(TInt32.class), FifoQueue.sharedName("leaving"));
      producer.withName(AWAIT).io.queueDequeue(queue, List.of(TInt32.class));
      producer.withName(LEAVE).io.queueEnqueue(queue, List.of(producer.constant(1)));
      return graph.toGraphDef();
    }
  }
}
