// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.parameterserver;

import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.session.Fetched;
import io.weft.tensorflow.session.WeftSession;
import java.time.Duration;
import java.util.Map;
import java.util.function.LongSupplier;
import org.tensorflow.Tensor;
import org.tensorflow.proto.GraphDef;

/// A graph over several tasks, under Weft or another runtime. Not thread-safe, except `abandon`.
public interface GraphSession extends AutoCloseable {

  /// Runs a step. The caller owns the fetches.
  Fetched run(GraphCall call, Map<String, ? extends Tensor> feeds, Duration limit)
      throws InterruptedException;

  /// Returns the number of messages in which this task has requested tensors from other tasks; -1
  /// if the runtime does not count them.
  long requests();

  /// Abandons the current step and all later steps. Any thread may call it; it does not wait.
  void abandon(String why);

  @Override
  void close();

  /// A factory of sessions of one runtime.
  interface Opener {
    /// Opens a session over the graph's tasks; they may start until `limit` has passed.
    GraphSession open(GraphDef graph, Duration limit) throws InterruptedException;
  }

  /// A session of Weft.
  record OfWeft(WeftSession session, LongSupplier counter) implements GraphSession {

    @Override
    public Fetched run(GraphCall call, Map<String, ? extends Tensor> feeds, Duration limit)
        throws InterruptedException {
      return session.run(call, feeds, limit);
    }

    @Override
    public long requests() {
      return counter.getAsLong();
    }

    @Override
    public void abandon(String why) {
      session.abandon(why);
    }

    @Override
    public void close() {
      session.close();
    }
  }
}
