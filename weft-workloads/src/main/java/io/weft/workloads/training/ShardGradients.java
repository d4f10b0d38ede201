// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.tensor.kernel.Kernels;
import io.weft.tensor.kernel.ReduceKernel;
import io.weft.tensorflow.TensorViews;
import io.weft.tensorflow.UpdateOrder;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.framework.optimizers.Optimizer;
import org.tensorflow.framework.optimizers.Optimizer.GradAndVar;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.types.TFloat32;
import org.tensorflow.types.family.TType;

/// Gradients of single shards of the batch, added in one tree of shards for any number of ranks:
/// neighbours first, then sums at distance 2, 4 and so on. A rank has neighbouring shards, so that
/// its additions are the first levels of this tree. The additions between ranks, in their order,
/// are the remaining levels. Confined to one thread. Owns its memory.
final class ShardGradients implements AutoCloseable {

  private static final ReduceKernel ADD = Kernels.reducer(DType.FLOAT32, ReduceOp.SUM);

  private final Arena arena = Arena.ofShared();
  private final List<Part> parts = new ArrayList<>();
  private final Op update;

  /// The partial sums; level l is the sum of 2 to the power of l shards.
  private final List<List<TensorView>> levels = new ArrayList<>();

  private final RankExchange exchange;

  /// One variable's gradient, and the placeholder to which the sum is fed.
  private record Part(Output<TFloat32> gradient, Placeholder<TFloat32> sum, Shape shape) {}

  /// Adds to the graph the update that `optimizer` makes with a sum of gradients of `loss`.
  ///
  /// @param exchange of the ranks
  ShardGradients(Graph graph, Optimizer optimizer, Operand<TFloat32> loss, RankExchange exchange) {
    this.exchange = exchange;
    Ops tf = Ops.create(graph);
    var summed = new ArrayList<GradAndVar<? extends TType>>();
    for (GradAndVar<?> computed : optimizer.computeGradients(loss)) {
      summed.add(computed.getGradient().isClosed() ? computed : fed(tf, computed));
    }
    this.update = UpdateOrder.stateLast(graph, optimizer.applyGradients(summed, "shards"));
  }

  private GradAndVar<TFloat32> fed(Ops tf, GradAndVar<?> computed) {
    Output<TFloat32> gradient = computed.getGradient().expect(TFloat32.class);
    Output<TFloat32> variable = computed.getVariable().expect(TFloat32.class);
    Placeholder<TFloat32> sum = tf.placeholder(TFloat32.class, Placeholder.shape(variable.shape()));
    parts.add(new Part(gradient, sum, Shape.of(variable.shape().asArray())));
    return new GradAndVar<>(sum.asOutput(), variable);
  }

  /// Fetches the gradients in a run, before all other results.
  void fetch(Session.Runner runner) {
    parts.forEach(part -> runner.fetch(part.gradient));
  }

  /// Returns the number of gradients among the results of a run.
  int count() {
    return parts.size();
  }

  /// Adds the gradients of a run.
  ///
  /// @param turn the number of gradients added before in this step
  void add(Result gradients, int turn) {
    int ones = Integer.numberOfTrailingZeros(~turn);
    while (levels.size() <= ones) {
      levels.add(allocate());
    }
    List<TensorView> own = levels.getFirst();
    for (int p = 0; p < parts.size(); p++) {
      MemorySegment gradient = TensorViews.of(gradients.get(p)).data();
      TensorView into = own.get(p);
      if (ones == 0) {
        into.data().copyFrom(gradient);
      } else {
        ADD.reduce(into.data(), 0, gradient, 0, into.shape().elements());
      }
    }
    for (int level = 1; level < ones; level++) {
      add(levels.get(level - 1), levels.get(level));
    }
    if (ones > 0) {
      Collections.swap(levels, ones - 1, ones);
    }
  }

  private static void add(List<TensorView> from, List<TensorView> into) {
    for (int p = 0; p < into.size(); p++) {
      TensorView sum = into.get(p);
      ADD.reduce(sum.data(), 0, from.get(p).data(), 0, sum.shape().elements());
    }
  }

  /// Sums over all ranks and passes the sums to the optimizer. Collective.
  ///
  /// @param shards the number of shards that this rank added in this step, a power of two
  void apply(Session session, int shards) {
    List<TensorView> sums = levels.get(Integer.numberOfTrailingZeros(shards));
    exchange.sum("shards", sums);
    Session.Runner runner = session.runner().addTarget(update);
    List<TFloat32> fed = new ArrayList<>();
    try {
      for (int p = 0; p < parts.size(); p++) {
        TFloat32 value = TensorViews.copyOf(sums.get(p), TFloat32.class);
        fed.add(value);
        runner.feed(parts.get(p).sum, value);
      }
      runner.run().close();
    } finally {
      fed.forEach(TFloat32::close);
    }
  }

  private List<TensorView> allocate() {
    List<TensorView> level = new ArrayList<>();
    for (Part part : parts) {
      long bytes = part.shape.elements() * Float.BYTES;
      level.add(new TensorView(DType.FLOAT32, part.shape, arena.allocate(bytes, 64)));
    }
    return level;
  }

  @Override
  public void close() {
    arena.close();
  }
}
