// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.transfer;

import io.weft.comm.CommException;
import io.weft.rendezvous.Edge;
import io.weft.rendezvous.Rendezvous;
import io.weft.tensorflow.DataTypes;
import io.weft.tensorflow.cluster.DeviceName;
import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.partition.TransferOps;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import org.tensorflow.proto.AttrValue;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;
import org.tensorflow.proto.NodeDefOrBuilder;

/// The shared state of the sends and receives of one part of a graph: the rendezvous with the other
/// parts, and the running step. One step at a time. Owned; `close` after its session.
public final class GraphPart implements AutoCloseable {

  private static final int MAX_EDGE_CHARACTERS = Edge.MAX_NAME_BYTES / 4;

  private final String name;
  private final Rendezvous rendezvous;
  private final ToIntFunction<Task> ranks;
  private final int here;
  private final TransferLibrary library;
  private final long number;
  private final AtomicReference<@Nullable CommException> failure = new AtomicReference<>();
  private volatile @Nullable RunningStep running;
  private volatile boolean givenUp;

  /// Creates a part of a graph on this task.
  ///
  /// @param name of the graph, the same for all its parts and for no other graph of the job
  /// @param rendezvous of this task's rank
  /// @param here this task's rank
  /// @param ranks the rank of each task
  public GraphPart(String name, Rendezvous rendezvous, int here, ToIntFunction<Task> ranks) {
    this.name = name;
    this.rendezvous = rendezvous;
    this.here = here;
    this.ranks = ranks;
    this.library = TransferLibrary.load();
    this.number = library.parts().add(this);
  }

  /// Returns the graph with its sends and receives bound to this part, and short receives of a
  /// group fused. Throws `IllegalArgumentException`, which names the tensor, if Weft does not carry
  /// its type.
  public GraphDef bind(GraphDef graph) {
    graph.getNodeList().stream().filter(GraphPart::isEnd).forEach(GraphPart::requireCarried);
    GraphDef.Builder bound = FusedReceives.of(graph).toBuilder();
    AttrValue mine = AttrValue.newBuilder().setI(number).build();
    for (NodeDef.Builder node : bound.getNodeBuilderList()) {
      if (isEnd(node)) {
        node.putAttr(TransferOps.PART, mine);
      }
    }
    FailureWatch.add(bound, mine);
    return bound.build();
  }

  private static boolean isEnd(NodeDefOrBuilder node) {
    return node.getOp().equals(TransferOps.SEND) || node.getOp().equals(TransferOps.RECEIVE);
  }

  private static void requireCarried(NodeDef node) {
    try {
      var unused = DataTypes.of(node.getAttrOrThrow(TransferOps.TYPE).getType());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "tensor '%s' from %s to %s: %s"
              .formatted(
                  node.getAttrOrThrow(TransferOps.TENSOR_NAMES).getList().getS(0).toStringUtf8(),
                  node.getAttrOrThrow(TransferOps.SOURCE).getS().toStringUtf8(),
                  node.getAttrOrThrow(TransferOps.DESTINATION).getS().toStringUtf8(),
                  e.getMessage()),
          e);
    }
  }

  /// Begins a step, to which later sends and receives belong. Sends are published at once.
  ///
  /// @param deadline of each receive, by `System.nanoTime`
  /// @param plan the step's receives that share a request
  public void begin(long step, long deadline, ReceivePlan plan) {
    begin(step, deadline, plan, new StepSends.AtOnce(rendezvous));
  }

  /// Begins a step that runs on one thread without waiting. Its sends are published together by
  /// `flush`.
  public void beginTogether(long step, long deadline, ReceivePlan plan) {
    begin(step, deadline, plan, new StepSends.HeldSends(rendezvous));
  }

  private void begin(long step, long deadline, ReceivePlan plan, StepSends sends) {
    failure.set(null);
    givenUp = false;
    running = new RunningStep(step, new StepReceives(rendezvous, plan, step, deadline), sends);
  }

  /// Publishes held sends after the step's run has completed successfully.
  public void flush() {
    RunningStep step = running;
    if (step != null) {
      step.sends().flush();
    }
  }

  /// Ends the step on this task, when no op of the part runs. Sends that were not flushed are
  /// discarded.
  public void end() {
    RunningStep over = running;
    running = null;
    if (over != null) {
      over.receives().close();
      over.sends().close();
    }
  }

  /// Returns the first failure of a receive in the last step. Null if no receive failed, or if
  /// another node had failed before; the step's failure then has the reason.
  public @Nullable CommException failure() {
    return failure.get();
  }

  /// Unregisters the part. No session may have running kernels of it.
  @Override
  public void close() {
    GraphPart unused = library.parts().remove(number);
  }

  Rendezvous rendezvous() {
    return rendezvous;
  }

  /// Throws `IllegalStateException` if no step is running.
  RunningStep step() {
    RunningStep step = running;
    if (step == null) {
      throw new IllegalStateException("no step of graph " + name + " runs; use WeftSession.run");
    }
    return step;
  }

  /// Fails all waiting receives of the step after one has failed, because TensorFlow cannot. Any
  /// thread.
  void fail(RunningStep step, CommException cause) {
    if (!givenUp && failure.compareAndSet(null, cause)) {
      rendezvous.abort(step.number(), String.valueOf(cause.getMessage()));
    }
  }

  /// Handles the end of the step's run, or TensorFlow's abandonment of it after a failed node.
  /// Fails the waiting receives, for which TensorFlow would wait. Any thread.
  void letGo(RunningStep step) {
    if (step.letGo()) {
      giveUp(step);
    }
  }

  /// Fails the waiting receives because a node has failed.
  void giveUp(RunningStep step) {
    if (running == step) {
      givenUp = true;
      rendezvous.abort(step.number(), "a node on the task of rank " + here + " failed");
    }
  }

  Edge edge(String source, String destination, String edge) {
    return edge(rank(source), rank(destination), edge);
  }

  /// Returns an edge that ends on this task.
  Edge incoming(int source, String edge) {
    return edge(source, here, edge);
  }

  private Edge edge(int source, int destination, String edge) {
    String whole = name + "/" + edge;
    String text = whole.substring(0, Math.min(whole.length(), MAX_EDGE_CHARACTERS));
    return new Edge(source, 0, destination, text);
  }

  private int rank(String device) {
    DeviceName task = DeviceName.parse(device);
    if (task.job().isEmpty() || task.task().isEmpty()) {
      throw new IllegalArgumentException("'" + device + "' is not a task; write /job:ps/task:0");
    }
    return ranks.applyAsInt(new Task(task.job().get(), task.task().getAsInt()));
  }
}
