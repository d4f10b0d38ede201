// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.tensorflow.partition.GraphCall;
import java.util.ArrayList;
import java.util.List;
import org.tensorflow.Operand;
import org.tensorflow.Operation;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.io.FifoQueue;
import org.tensorflow.types.TInt64;

/// The queues that notify workers of completed steps. Each worker has a queue on the first server,
/// into which the update puts the number of the next step.
final class StepTokens {

  /// The placeholder of the next step.
  static final String NEXT = "next_step";

  private static final String QUEUE = "tokens_";
  private static final String TAKE = "token_";
  private static final String DRAIN = "token_more_";
  private static final String LEFT = "tokens_left_";

  private StepTokens() {}

  /// Returns the fetches of a token for worker `index` and of the number of further tokens.
  static List<String> fetches(int index) {
    return List.of(TAKE + index + ":0", LEFT + index + ":0");
  }

  /// Returns the call that takes one further token.
  static GraphCall more(int index) {
    return new GraphCall(List.of(), List.of(DRAIN + index + ":0"), List.of());
  }

  /// Adds a queue for each worker.
  ///
  /// @param server ops that are placed on the first server's device
  /// @param next number of the next step
  /// @param put ops that a worker runs before it waits
  /// @return the ops that give all workers their token
  static List<Op> add(
      Ops server, int workers, Operand<TInt64> next, List<Operation> put, Op updated) {
    List<Op> given = new ArrayList<>();
    for (int index = 0; index < workers; index++) {
      FifoQueue queue =
          server
              .withName(QUEUE + index)
              .io
              .fifoQueue(List.of(TInt64.class), FifoQueue.sharedName(QUEUE + index));
      Op token =
          server
              .withName(TAKE + index)
              .withControlDependencyOps(put)
              .io
              .queueDequeue(queue, List.of(TInt64.class));
      var left =
          server.withName(LEFT + index).withControlDependencies(List.of(token)).io.queueSize(queue);
      var more = server.withName(DRAIN + index).io.queueDequeue(queue, List.of(TInt64.class));
      assert left.op() != more.op();
      given.add(
          server.withControlDependencies(List.of(updated)).io.queueEnqueue(queue, List.of(next)));
    }
    return given;
  }
}
