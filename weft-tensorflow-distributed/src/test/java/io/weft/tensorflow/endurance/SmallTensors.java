// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.endurance;

import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.session.Fetched;
import io.weft.tensorflow.session.WeftServer;
import io.weft.tensorflow.session.WeftSession;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.op.core.VarHandleOp;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.types.TFloat32;

/// Steps with many small tensors. The worker sums the server's variables. Each receive of a step is
/// a run of an asynchronous kernel that ends on another thread. Variable i is i + generation in
/// every element. The generation changes now and then, so that a tensor of an earlier step is
/// detected.
final class SmallTensors implements Endured {

  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int STEPS_OF_A_GENERATION = 1000;
  private static final GraphCall SUM = new GraphCall(List.of(), List.of("sum:0"), List.of());
  private static final GraphCall WRITE =
      new GraphCall(List.of("generation"), List.of(), List.of("written"));

  private final Options options;
  private final WeftSession session;
  private long steps;
  private int generation;

  SmallTensors(Options options, WeftServer server) throws InterruptedException {
    this.options = options;
    this.session = WeftSession.open(server, graph(options), LIMIT);
  }

  private static GraphDef graph(Options options) {
    int elements = options.bytes() / Float.BYTES;
    try (Graph graph = new Graph()) {
      Ops worker = Ops.create(graph).withDevice(EnduranceRank.device("worker"));
      Ops server = Ops.create(graph).withDevice(EnduranceRank.device("ps"));
      var generation =
          server.withName("generation").placeholder(TFloat32.class, Placeholder.shape(Shape.of()));
      List<Op> written = new ArrayList<>();
      List<Operand<TFloat32>> reads = new ArrayList<>();
      for (int i = 0; i < options.tensors(); i++) {
        VarHandleOp handle =
            server.withName("v" + i).varHandleOp(TFloat32.class, Shape.of(elements));
        var value = server.math.add(generation, server.constant((float) i));
        var whole = server.fill(server.constant(new int[] {elements}), value);
        written.add(server.assignVariableOp(handle, whole));
        reads.add(server.readVariableOp(handle, TFloat32.class));
      }
      server.withName("written").withControlDependencies(written).noOp();
      worker.withName("sum").math.addN(reads);
      return graph.toGraphDef();
    }
  }

  @Override
  public void step(int number) throws InterruptedException {
    if (number % STEPS_OF_A_GENERATION == 0) {
      generation++;
      try (TFloat32 next = TFloat32.scalarOf(generation)) {
        session.run(WRITE, Map.of("generation", next), LIMIT).close();
      }
    }
    try (Fetched fetched = session.run(SUM, Map.of(), LIMIT)) {
      TFloat32 sum = (TFloat32) fetched.get(0);
      float expected = options.tensors() * ((options.tensors() - 1) / 2f + generation);
      for (long i = 0; i < sum.shape().get(0); i++) {
        if (sum.getFloat(i) != expected) {
          throw new IllegalStateException(
              "step %d: element %d of the sum is %s, expected %s"
                  .formatted(number, i, sum.getFloat(i), expected));
        }
      }
    }
    steps++;
  }

  @Override
  public String summary() {
    return "%d steps, %d receives by asynchronous kernels, %d generations; all sums were right"
        .formatted(steps, steps * options.tensors(), generation);
  }

  @Override
  public void close() {
    session.close();
  }
}
