// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.transfer.GraphPart;
import io.weft.transport.limit.ClampedDuration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.tensorflow.Graph;
import org.tensorflow.GraphOperation;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.Tensor;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.RunOptions;

/// A part of a graph in the session of its task, under a separate name. Variables and other
/// resources keep their names in the graph, so parts of several graphs share them. One run at a
/// time; a later run waits.
final class HostedPart {

  /// Values of `RunOptions.inter_op_thread_pool` [TensorFlow, config.proto]. Waiting ops must not
  /// run on the caller's thread, because their successors would run on the thread that ends the
  /// wait, the progress thread.
  private static final int CALLERS_THREAD = -1;

  private static final int SHARED_THREADS = 0;

  private final Session session;
  private final GraphPart part;
  private final String prefix;
  private final ReentrantLock runs = new ReentrantLock();
  private final Graph graph;
  private final Map<GraphCall, BoundCall> calls = new HashMap<>(); // guarded by runs

  private HostedPart(Graph graph, Session session, GraphPart part, String prefix) {
    this.graph = graph;
    this.session = session;
    this.part = part;
    this.prefix = prefix;
  }

  /// Adds `definition` to the graph of the task's session. Throws `IllegalArgumentException` or
  /// TensorFlow's exception for a graph that TensorFlow refuses.
  ///
  /// @param name of the graph, the same on all tasks; its nodes become `name/node` here
  static HostedPart add(
      Graph graph, Session session, GraphPart part, String name, GraphDef definition) {
    GraphDef named = SharedNames.of(part.bind(definition));
    // Under a prefix, TensorFlow Java does not treat nodes as initializers of the whole graph.
    graph.importGraphDef(named, name);
    return new HostedPart(graph, session, part, name + "/");
  }

  /// Runs this task's part of a step, after the previous run has ended. Returns the fetches, owned
  /// by the caller. Throws TensorFlow's exceptions.
  ///
  /// @param deadline of the receives, by `System.nanoTime`
  Result run(PartCall call, long step, long deadline, Map<String, ? extends Tensor> feeds)
      throws InterruptedException {
    if (!runs.tryLock(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
      throw new IllegalStateException("the previous run of this part has not ended in time");
    }
    try {
      GraphCall names = call.names();
      BoundCall bound =
          calls.computeIfAbsent(names, fresh -> BoundCall.bind(graph, prefix, fresh, calls.size()));
      if (bound.isLight()) {
        part.beginTogether(step, deadline, call.receives());
      } else {
        part.begin(step, deadline, call.receives());
      }
      Session.Runner runner = session.runner().setOptions(options(deadline, bound));
      for (int i = 0; i < names.feeds().size(); i++) {
        runner.feed(bound.feeds().get(i), feeds.get(names.feeds().get(i)));
      }
      bound.fetches().forEach(runner::fetch);
      GraphOperation target = bound.target();
      if (target != null) {
        runner.addTarget(target);
      }
      Result result = runner.run();
      part.flush();
      return result;
    } finally {
      part.end();
      runs.unlock();
    }
  }

  /// Returns run options that end waits inside TensorFlow, such as for a queue. They end after the
  /// deadline, so that the caller reports the failure as a timeout.
  private static RunOptions options(long deadline, BoundCall call) {
    return RunOptions.newBuilder()
        .setInterOpThreadPool(call.isLight() ? CALLERS_THREAD : SHARED_THREADS)
        .setTimeoutInMs(ClampedDuration.millis(StepDeadlines.left(deadline)) + 1)
        .build();
  }

  GraphPart part() {
    return part;
  }
}
