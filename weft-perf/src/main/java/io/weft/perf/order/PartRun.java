// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.order;

import io.weft.Weft;
import io.weft.rendezvous.RendezvousKey;
import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.partition.GraphPartition;
import io.weft.tensorflow.partition.TransferOps;
import io.weft.tensorflow.transfer.GraphPart;
import io.weft.tensorflow.transfer.ReceivePlan;
import io.weft.transport.limit.ClampedDuration;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.ToIntFunction;
import org.tensorflow.Graph;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.proto.AttrValue;
import org.tensorflow.proto.ConfigProto;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.proto.NodeDef;
import org.tensorflow.types.TFloat32;

/// One task's part of a partitioned graph, which runs its steps without a `WeftServer`, so that its
/// urgencies can be changed. The ranks agree on the steps by themselves. Confined to one thread.
final class PartRun implements AutoCloseable {

  /// The order in which the transfers of a step leave.
  enum Order {
    NEED(0),
    READINESS(1);

    private final int series;

    Order(int series) {
      this.series = series;
    }

    /// Returns the part as it is, or with equal urgencies.
    GraphDef of(GraphDef part) {
      if (this == NEED) {
        return part;
      }
      GraphDef.Builder equal = part.toBuilder();
      for (NodeDef.Builder node : equal.getNodeBuilderList()) {
        if (node.containsAttr(TransferOps.URGENCIES)) {
          AttrValue.ListValue zero = AttrValue.ListValue.newBuilder().addI(0).build();
          node.putAttr(TransferOps.URGENCIES, AttrValue.newBuilder().setList(zero).build());
        }
      }
      return equal.build();
    }

    /// Returns the name in reports.
    String word() {
      return this == NEED ? "need" : "readiness";
    }
  }

  private final Weft weft;
  private final Order order;
  private final GraphCall call;
  private final GraphPart part;
  private final Graph graph = new Graph();
  private final Session session;
  private long steps;

  /// Opens this task's part of a step.
  ///
  /// @param ranks the rank of each task
  PartRun(Weft weft, GraphPartition partition, Task task, ToIntFunction<Task> ranks, Order order) {
    this.weft = weft;
    this.order = order;
    this.call = Objects.requireNonNull(partition.plan(SplitUNet.STEP).get(task), "call");
    this.part = new GraphPart(order.word(), weft.rendezvous(), weft.rank(), ranks);
    GraphDef own = Objects.requireNonNull(partition.parts().get(task), "part");
    graph.importGraphDef(part.bind(order.of(own)));
    this.session = new Session(graph, config());
  }

  /// Returns a configuration with one computing thread, because two ranks share this host.
  static ConfigProto config() {
    return ConfigProto.newBuilder()
        .setIntraOpParallelismThreads(1)
        .setInterOpParallelismThreads(2)
        .build();
  }

  Order order() {
    return order;
  }

  private long step() {
    return RendezvousKey.step(order.series, steps);
  }

  /// Runs this part of the next step. Returns the fetched values, none on the encoder's task.
  float[] run(float scale, Duration limit) {
    part.begin(
        step(), System.nanoTime() + ClampedDuration.nanos(limit), new ReceivePlan(part, List.of()));
    try (TFloat32 fed = TFloat32.scalarOf(scale)) {
      Session.Runner runner = session.runner();
      call.feeds().forEach(name -> runner.feed(name, fed));
      call.fetches().forEach(runner::fetch);
      call.targets().forEach(runner::addTarget);
      try (Result result = runner.run()) {
        return result.size() == 0 ? new float[0] : values((TFloat32) result.get(0));
      }
    } finally {
      part.end();
    }
  }

  static float[] values(TFloat32 tensor) {
    float[] values = new float[Math.toIntExact(tensor.size())];
    tensor.asRawTensor().data().asFloats().read(values);
    return values;
  }

  /// Ends the step, which all ranks have run.
  void end() {
    weft.rendezvous().end(step());
    steps++;
  }

  @Override
  public void close() {
    session.close();
    graph.close();
    part.close();
  }
}
