// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow;

import io.weft.Weft;
import io.weft.WeftConfig;
import io.weft.tensor.DType;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.stream.DoubleStream;
import org.tensorflow.Graph;
import org.tensorflow.Operand;
import org.tensorflow.Output;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.ndarray.buffer.DataBuffers;
import org.tensorflow.op.Ops;
import org.tensorflow.types.TFloat64;
import org.tensorflow.types.family.TNumber;
import org.tensorflow.types.family.TType;

/// A builder and runner of a graph on each rank of a job in this process.
final class RankGraphs {

  private RankGraphs() {}

  /// The builder of a rank's graph.
  interface Body {

    /// Returns the operands to fetch.
    List<? extends Operand<?>> build(Rank rank);
  }

  /// The rank and the objects with which a body builds its graph.
  record Rank(Graph graph, Ops tf, WeftOps weft, int number, int size) {

    /// Returns these numbers in this type and shape.
    <T extends TType> Operand<T> numbers(DType type, long[] shape, double... values) {
      Operand<TFloat64> all = tf.constant(Shape.of(shape), DataBuffers.of(values));
      return cast(all, type);
    }

    /// Returns a tensor with this number in all elements.
    <T extends TType> Operand<T> filled(DType type, double value, long... shape) {
      long elements = Arrays.stream(shape).reduce(1, (a, b) -> a * b);
      return numbers(type, shape, DoubleStream.generate(() -> value).limit(elements).toArray());
    }

    /// Returns the value in another type.
    <T extends TType> Operand<T> cast(Operand<?> value, DType type) {
      return graph
          .opBuilder("Cast", tf.scope().makeOpName("cast"), graph.baseScope())
          .addInput(value.asOutput())
          .setAttr("DstT", DataTypes.of(type))
          .build()
          .output(0);
    }

    /// Returns the gradient of the sum of `y`, each element weighted by `weight`, with respect to
    /// `x`.
    <T extends TNumber> Output<?> gradient(Operand<T> y, Operand<T> x, double weight) {
      Operand<T> weighted =
          tf.math.mul(y, cast(tf.constant(weight), DataTypes.of(y.asOutput().dataType())));
      return graph.addGradients(weighted.asOutput(), new Output<?>[] {x.asOutput()})[0];
    }
  }

  /// A fetched tensor.
  record Value(List<Long> shape, double... elements) {}

  /// Returns the tensors that each rank fetched, as numbers.
  static List<List<Value>> run(int size, Body body) {
    return on(size, weft -> fetch(weft, body));
  }

  /// Returns the message of each rank's failure.
  static List<String> failures(int size, Body body) {
    return on(
        size,
        weft -> {
          try {
            return "no failure, but " + fetch(weft, body);
          } catch (RuntimeException e) {
            return String.valueOf(e.getMessage());
          }
        });
  }

  /// Returns the result of each rank's body.
  static <T> List<T> on(int size, LocalJob.Body<T> body) {
    WeftConfig config =
        WeftConfig.load(
            Map.of("WEFT_TRANSPORT", "inproc", "WEFT_DEADLINE", "15s"), new Properties());
    try (LocalJob job = LocalJob.start(size, config)) {
      return job.run(body);
    }
  }

  private static List<Value> fetch(Weft weft, Body body) {
    try (Graph graph = new Graph()) {
      Rank rank =
          new Rank(
              graph,
              Ops.create(graph),
              new WeftOps(graph, weft.communicator()),
              weft.rank(),
              weft.size());
      List<? extends Operand<?>> outputs = body.build(rank);
      try (Session session = new Session(graph)) {
        Session.Runner runner = session.runner();
        for (Operand<?> output : outputs) {
          Operand<?> fetched = rank.cast(output, DType.FLOAT64);
          runner.fetch(fetched);
        }
        List<Value> values = new ArrayList<>();
        try (Result result = runner.run()) {
          for (int i = 0; i < result.size(); i++) {
            TensorView view = TensorViews.of(result.get(i));
            MemorySegment data = view.data();
            values.add(
                new Value(view.shape().dims(), data.toArray(ValueLayout.JAVA_DOUBLE_UNALIGNED)));
          }
        }
        return values;
      }
    }
  }
}
