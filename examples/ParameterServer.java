// SPDX-License-Identifier: Apache-2.0
package examples;

import static io.weft.tensorflow.placement.VariablePlacement.BALANCED_BYTES;

import io.weft.Weft;
import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.placement.ReplicaDeviceSetter;
import io.weft.tensorflow.session.Fetched;
import io.weft.tensorflow.session.WeftServer;
import io.weft.tensorflow.session.WeftSession;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.tensorflow.Graph;
import org.tensorflow.framework.optimizers.GradientDescent;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.types.TFloat32;

/// Fits a line to points with TensorFlow. A parameter server stores the variables, and a worker
/// computes. On two processes:
///
/// ```
/// ./weft run -np 2 -- ./weft java examples/ParameterServer.java
/// ```
final class ParameterServer {

  private static final int POINTS = 64;
  private static final int STEPS = 200;

  private ParameterServer() {}

  static void main() throws InterruptedException {
    // docs/parameter-server.md begins
    ClusterSpec cluster = ClusterSpec.of(Map.of("ps", List.of("h0:1"), "worker", List.of("h1:1")));
    try (Weft weft = Weft.init();
        WeftServer server = WeftServer.start(weft, cluster)) {
      if (server.task().job().equals("ps")) {
        server.join(); // until the workers have left
        return;
      }
      GraphDef graph = ReplicaDeviceSetter.of(cluster, server.task(), BALANCED_BYTES).place(line());
      GraphCall train = new GraphCall(List.of("x", "y"), List.of("loss:0"), List.of("train"));
      try (WeftSession session = WeftSession.openInitialized(server, graph, Duration.ofMinutes(1));
          TFloat32 x = TFloat32.tensorOf(Shape.of(POINTS));
          TFloat32 y = TFloat32.tensorOf(Shape.of(POINTS))) {
        fill(x, y);
        for (int step = 0; step < STEPS; step++) {
          session.run(train, Map.of("x", x, "y", y), Duration.ofSeconds(30)).close();
        }
        // docs/parameter-server.md ends
        GraphCall read = new GraphCall(List.of(), List.of("slope:0", "offset:0"), List.of());
        try (Fetched found = session.run(read, Map.of(), Duration.ofSeconds(30))) {
          System.out.printf(
              Locale.ROOT,
              "%s: y = %.2f x + %.2f%n",
              server.task(),
              ((TFloat32) found.get(0)).getFloat(),
              ((TFloat32) found.get(1)).getFloat());
        }
      }
    }
  }

  /// Builds the graph of every worker, without devices.
  private static GraphDef line() {
    try (Graph graph = new Graph()) {
      Ops tf = Ops.create(graph);
      var x = tf.withName("x").placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1)));
      var y = tf.withName("y").placeholder(TFloat32.class, Placeholder.shape(Shape.of(-1)));
      var slope = tf.withName("slope").variable(Shape.scalar(), TFloat32.class);
      var offset = tf.withName("offset").variable(Shape.scalar(), TFloat32.class);
      Ops init = tf.withInitScope();
      init.assign(slope, init.constant(0f));
      init.assign(offset, init.constant(0f));
      var error = tf.math.sub(tf.math.add(tf.math.mul(x, slope), offset), y);
      var loss = tf.withName("loss").math.mean(tf.math.square(error), tf.constant(0));
      var unused = new GradientDescent(graph, 0.3f).minimize(loss, "train");
      return graph.toGraphDef();
    }
  }

  private static void fill(TFloat32 x, TFloat32 y) {
    for (int i = 0; i < POINTS; i++) {
      float at = 2f * i / POINTS - 1;
      x.setFloat(at, i);
      y.setFloat(3 * at + 2, i);
    }
  }
}
