// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.sendrecv;

import io.weft.tensorflow.partition.GraphCall;
import java.util.ArrayList;
import java.util.List;
import org.tensorflow.DeviceSpec;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.op.core.VarHandleOp;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.types.TFloat32;

/// The graph of one case: the consumer computes the sum of the producer's variables. Element j of
/// tensor i is (j mod 1024) + i + 1000 · generation. All sums are exact in float32, so one sum
/// checks the whole content of each tensor.
///
/// @param tensors number of tensors, 0 for a step without transfers
/// @param elements number of elements of each tensor
/// @param graph the graph with devices
record ExchangeGraph(int tensors, int elements, GraphDef graph) {

  /// Assigns the values of a generation, which is fed, to the variables.
  static final GraphCall WRITE =
      new GraphCall(List.of("generation"), List.of(), List.of("written"));

  /// The timed step, which fetches four bytes that depend on all tensors.
  static final GraphCall STEP = new GraphCall(List.of(), List.of("last:0"), List.of());

  /// The sum of all tensors.
  static final GraphCall WHOLE = new GraphCall(List.of(), List.of("sum:0"), List.of());

  /// The largest generation for which the sums of a thousand tensors are exact.
  static final int MOST_GENERATIONS = 9;

  private static final int PERIOD = 1024;
  private static final int GENERATION = 1000;

  static ExchangeGraph of(int tensors, int elements) {
    try (Graph graph = new Graph()) {
      Ops consumer = Ops.create(graph).withDevice(device(Tasks.CONSUMER));
      if (tensors == 0) {
        consumer.withName("last").constant(0f);
      } else {
        build(consumer, Ops.create(graph).withDevice(device(Tasks.PRODUCER)), tensors, elements);
      }
      return new ExchangeGraph(tensors, elements, graph.toGraphDef());
    }
  }

  private static DeviceSpec device(String job) {
    return DeviceSpec.newBuilder().job(job).task(0).build();
  }

  private static void build(Ops consumer, Ops producer, int tensors, int elements) {
    var generation =
        producer.withName("generation").placeholder(TFloat32.class, Placeholder.shape(Shape.of()));
    var first = producer.math.mul(generation, producer.constant((float) GENERATION));
    var numbers =
        producer.range(producer.constant(0), producer.constant(elements), producer.constant(1));
    var ramp =
        producer.dtypes.cast(
            producer.math.floorMod(numbers, producer.constant(PERIOD)), TFloat32.class);
    List<Op> written = new ArrayList<>();
    List<Operand<TFloat32>> reads = new ArrayList<>();
    for (int i = 0; i < tensors; i++) {
      String name = "v_" + tensors + "_" + elements + "_" + i;
      VarHandleOp handle =
          producer
              .withName(name)
              .varHandleOp(TFloat32.class, Shape.of(elements), VarHandleOp.sharedName(name));
      var value = producer.math.add(ramp, producer.math.add(first, producer.constant((float) i)));
      written.add(producer.assignVariableOp(handle, value));
      reads.add(producer.readVariableOp(handle, TFloat32.class));
    }
    producer.withName("written").withControlDependencies(written).noOp();
    Ops sum = consumer.withName("sum");
    Operand<TFloat32> all = tensors == 1 ? sum.identity(reads.getFirst()) : sum.math.addN(reads);
    consumer
        .withName("last")
        .slice(all, consumer.constant(new int[] {elements - 1}), consumer.constant(new int[] {1}));
  }

  /// Returns element `j` of the sum in this generation.
  float sum(int j, int generation) {
    return tensors * (float) (j % PERIOD + GENERATION * generation) + tensors * (tensors - 1) / 2f;
  }

  /// Returns the value that a timed step fetches.
  float last(int generation) {
    return tensors == 0 ? 0 : sum(elements - 1, generation);
  }
}
