// SPDX-License-Identifier: Apache-2.0
package examples;

import io.weft.Weft;
import io.weft.tensorflow.DistributedOptimizer;
import io.weft.tensorflow.WeftVariables;
import java.util.Locale;
import java.util.stream.IntStream;
import org.tensorflow.Graph;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.framework.optimizers.GradientDescent;
import org.tensorflow.framework.optimizers.Optimizer;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.types.TFloat32;

/// Fits a line to points with TensorFlow. Four lines, numbered below, extend the program from one
/// process to many. On two processes:
///
/// ```
/// ./weft run -np 2 -- ./weft java examples/TensorFlowTraining.java
/// ```
final class TensorFlowTraining {

  private static final int POINTS = 64;
  private static final int STEPS = 200;

  private TensorFlowTraining() {}

  static void main() {
    try (Weft weft = Weft.init(); // 1: join the job
        Graph graph = new Graph()) {
      int[] rows =
          IntStream.range(0, POINTS)
              .filter(row -> row % weft.size() == weft.rank()) // 2: take this rank's share
              .toArray();

      Ops tf = Ops.create(graph);
      var x = tf.placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1)));
      var y = tf.placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1)));
      var slope = tf.variable(Shape.scalar(), TFloat32.class);
      var offset = tf.variable(Shape.scalar(), TFloat32.class);
      Ops init = tf.withInitScope();
      var scalar = init.constant(new int[0]);
      init.assign(slope, init.random.randomStandardNormal(scalar, TFloat32.class));
      init.assign(offset, init.random.randomStandardNormal(scalar, TFloat32.class));
      var error = tf.math.sub(tf.math.add(tf.math.mul(x, slope), offset), y);
      var loss = tf.math.mean(tf.math.square(error), tf.constant(0));
      Optimizer optimizer = new GradientDescent(graph, 0.3f);
      optimizer = new DistributedOptimizer(weft, optimizer); // 3: average gradients
      Op step = optimizer.minimize(loss);

      try (Session session = new Session(graph);
          TFloat32 xs = TFloat32.tensorOf(Shape.of(rows.length));
          TFloat32 ys = TFloat32.tensorOf(Shape.of(rows.length))) {
        for (int i = 0; i < rows.length; i++) {
          float at = 2f * rows[i] / POINTS - 1;
          xs.setFloat(at, i);
          ys.setFloat(3 * at + 2, i);
        }
        session.initialize();
        WeftVariables.broadcast(session, weft, 0); // 4: start from rank 0's values
        for (int i = 0; i < STEPS; i++) {
          session.runner().feed(x, xs).feed(y, ys).addTarget(step).run().close();
        }
        try (Result found = session.runner().fetch(slope).fetch(offset).run()) {
          float slopeFound = ((TFloat32) found.get(0)).getFloat();
          float offsetFound = ((TFloat32) found.get(1)).getFloat();
          System.out.printf(
              Locale.ROOT,
              "rank %d of %d: y = %.2f x + %.2f%n",
              weft.rank(),
              weft.size(),
              slopeFound,
              offsetFound);
        }
      }
    }
  }
}
