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

/// A graph over several tasks, under Weft or another runtime. One thread, but for `cancel`.
public interface GraphSession extends AutoCloseable {

  /// Runs a step; the fetches are the caller's.
  Fetched run(GraphCall call, Map<String, ? extends Tensor> feeds, Duration limit)
      throws InterruptedException;

  /// Messages in which this task has asked another for tensors, since it started; -1 where that is
  /// not told.
  long requests();

  /// Gives up the step that runs now and all later ones. Any thread; does not wait.
  void abandon(String why);

  @Override
  void close();

  /// Makes sessions of one runtime.
  interface Opener {
    /// With the tasks that the graph names; they may start until `limit` is over.
    GraphSession open(GraphDef graph, Duration limit) throws InterruptedException;
  }

  /// Weft.
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
