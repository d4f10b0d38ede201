// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.session;

import com.google.protobuf.ByteString;
import io.weft.tensorflow.transfer.Part;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.tensorflow.Graph;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.Tensor;
import org.tensorflow.proto.AttrValue;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;
import org.tensorflow.proto.RunOptions;

/// A part of a graph in the session of its task, under a name of its own. Variables and other
/// resources have the names that they had in the graph, so parts of several graphs share them. One
/// run at a time; a later one waits.
final class HostedPart {

  private static final String SHARED_NAME = "shared_name";

  private final Session session;
  private final Part part;
  private final String prefix;
  private final ReentrantLock runs = new ReentrantLock();

  private HostedPart(Session session, Part part, String prefix) {
    this.session = session;
    this.part = part;
    this.prefix = prefix;
  }

  /// Adds `definition` to the graph of the task's session. Throws `IllegalArgumentException`, or
  /// what TensorFlow throws, for a graph that it refuses.
  ///
  /// @param name of the graph, the same on all tasks; nodes are known as `name/node` here
  static HostedPart add(Graph graph, Session session, Part part, String name, GraphDef definition) {
    GraphDef bound = part.bind(definition);
    GraphDef.Builder named = bound.toBuilder();
    for (NodeDef.Builder node : named.getNodeBuilderList()) {
      AttrValue shared = node.getAttrOrDefault(SHARED_NAME, AttrValue.getDefaultInstance());
      if (node.containsAttr(SHARED_NAME) && shared.getS().isEmpty()) {
        node.putAttr(
            SHARED_NAME,
            AttrValue.newBuilder().setS(ByteString.copyFromUtf8(node.getName())).build());
      }
    }
    // Under a prefix TensorFlow Java does not take nodes for initializers of the whole graph.
    graph.importGraphDef(named.build(), name);
    return new HostedPart(session, part, name + "/");
  }

  /// Runs what this task does in a step; waits until a run before it has ended. Returns the
  /// fetches, owned by the caller. Throws what TensorFlow throws.
  ///
  /// @param deadline of the receives, by `System.nanoTime`
  Result run(PartCall call, long step, long deadline, Map<String, ? extends Tensor> feeds)
      throws InterruptedException {
    if (!runs.tryLock(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
      throw new IllegalStateException("the part's run before this step has not ended in time");
    }
    try {
      part.begin(step, deadline, call.receives());
      Session.Runner runner = session.runner().setOptions(options(deadline));
      call.names().feeds().forEach(name -> runner.feed(prefix + name, feeds.get(name)));
      call.names().fetches().forEach(name -> runner.fetch(prefix + name));
      call.names().targets().forEach(name -> runner.addTarget(prefix + name));
      return runner.run();
    } finally {
      part.end();
      runs.unlock();
    }
  }

  /// Ends what waits within TensorFlow, such as for a queue.
  private static RunOptions options(long deadline) {
    return RunOptions.newBuilder()
        .setTimeoutInMs(Math.max(1, Deadlines.left(deadline).toMillis()))
        .build();
  }

  Part part() {
    return part;
  }
}
