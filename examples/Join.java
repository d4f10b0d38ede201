// SPDX-License-Identifier: Apache-2.0
package examples;

import io.weft.Weft;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.DataParallelOptions;
import io.weft.dataparallel.Fusion;
import io.weft.tensorflow.DistributedOptimizer;
import io.weft.tensorflow.GradientOptions;
import io.weft.tensorflow.WeftVariables;
import java.util.Locale;
import org.tensorflow.Graph;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.framework.optimizers.GradientDescent;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Op;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.types.TFloat32;

/// Fits a line to points. The ranks have different numbers of batches. A rank without further
/// batches joins and contributes zeros while the others continue. On two processes:
///
/// ```
/// ./weft run -np 2 -- ./weft java examples/Join.java
/// ```
final class Join {

  private static final int[] BATCHES = {700, 400};
  private static final int POINTS = 32;

  private Join() {}

  static void main() throws InterruptedException {
    try (Weft weft = Weft.init();
        DataParallel parallel =
            DataParallel.open(weft, DataParallelOptions.of(weft.config()).with(Fusion.ON));
        Graph graph = new Graph()) {
      Ops tf = Ops.create(graph);
      var x = tf.placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1)));
      var slope = tf.variable(Shape.scalar(), TFloat32.class);
      var offset = tf.variable(Shape.scalar(), TFloat32.class);
      Ops init = tf.withInitScope();
      init.assign(slope, init.constant(0f));
      init.assign(offset, init.constant(0f));
      var y = tf.math.add(tf.math.mul(x, tf.constant(3f)), tf.constant(2f));
      var error = tf.math.sub(tf.math.add(tf.math.mul(x, slope), offset), y);
      var loss = tf.math.mean(tf.math.square(error), tf.constant(0));
      Op step =
          new DistributedOptimizer(
                  weft.communicator(),
                  parallel,
                  new GradientDescent(graph, 0.1f),
                  GradientOptions.DEFAULT)
              .minimize(loss);

      try (Session session = new Session(graph);
          TFloat32 points = TFloat32.tensorOf(Shape.of(POINTS))) {
        session.initialize();
        for (int i = 0; i < POINTS; i++) {
          points.setFloat(2f * i / POINTS - 1, i);
        }
        for (int batch = 0; batch < BATCHES[weft.rank() % BATCHES.length]; batch++) {
          session.runner().feed(x, points).addTarget(step).run().close();
        }
        int last = parallel.reducer(weft.communicator()).join().await(); // no more batches here
        WeftVariables.broadcast(session, weft.communicator(), last); // the longest training
        try (Result found = session.runner().fetch(slope).fetch(offset).run()) {
          float slopeFound = ((TFloat32) found.get(0)).getFloat();
          float offsetFound = ((TFloat32) found.get(1)).getFloat();
          System.out.printf(
              Locale.ROOT,
              "rank %d, after rank %d joined last: y = %.2f x + %.2f%n",
              weft.rank(),
              last,
              slopeFound,
              offsetFound);
        }
      }
    }
  }
}
