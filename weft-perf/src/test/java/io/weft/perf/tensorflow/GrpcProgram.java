// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.tensorflow;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.session.Fetched;
import io.weft.testkit.job.JvmCommand;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.tensorflow.DeviceSpec;
import org.tensorflow.Graph;
import org.tensorflow.Tensor;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.op.core.VarHandleOp;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.types.TFloat32;

/// One task of a cluster of a server and a worker. Each task is a separate process, because a
/// server of this kind ends only with its process. The server runs until its standard input ends.
/// The worker runs steps and prints their results.
final class GrpcProgram {

  private static final Duration LONG = Duration.ofMinutes(1);
  private static final GraphCall MULTIPLY =
      new GraphCall(List.of("x"), List.of("product:0", "weights:0"), List.of());
  private static final GraphCall TAKE = new GraphCall(List.of(), List.of("take:0"), List.of());

  private GrpcProgram() {}

  static Process start(String job, int serverPort, int workerPort) throws IOException {
    List<String> flags =
        List.of("--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow");
    ProcessBuilder builder =
        new ProcessBuilder(
            JvmCommand.of(flags, GrpcProgram.class, job, "" + serverPort, "" + workerPort));
    builder.environment().put("TF_CPP_MIN_LOG_LEVEL", "2");
    return builder.redirectErrorStream(true).start();
  }

  public static void main(String[] arguments) throws Exception {
    ClusterSpec cluster =
        ClusterSpec.of(
            Map.of(
                "ps", List.of("127.0.0.1:" + arguments[1]),
                "worker", List.of("127.0.0.1:" + arguments[2])));
    GrpcServer server = GrpcServer.start(cluster, new Task(arguments[0], 0));
    System.out.println("serving " + server.target());
    if (arguments[0].equals("ps")) {
      var input = new BufferedReader(new InputStreamReader(System.in, UTF_8));
      while (input.readLine() != null) {
        // The input is ignored, and only its end matters.
      }
    } else {
      work(server);
    }
  }

  private static void work(GrpcServer server) {
    try (GrpcSession session = GrpcSession.open(server, graph(), LONG);
        TFloat32 x = TFloat32.vectorOf(2, 5)) {
      session.run(List.of("init"), LONG);
      try (Fetched fetched = session.run(MULTIPLY, Map.of("x", x), LONG)) {
        System.out.println("product " + both(fetched.get(0)) + " of " + both(fetched.get(1)));
      }
      says(() -> session.run(MULTIPLY, Map.of(), LONG));
      says(() -> session.run(List.of("nothing"), LONG));
      says(() -> session.run(List.of("uninitialized"), LONG));
      says(() -> session.run(List.of("never"), Duration.ofMillis(100)));
      try (GrpcSession other = GrpcSession.open(server, graph(), LONG)) {
        session.run(List.of("put"), LONG);
        try (Fetched fetched = other.run(TAKE, Map.of(), LONG)) {
          System.out.println("taken " + ((TFloat32) fetched.get(0)).getFloat());
        }
        CompletableFuture.delayedExecutor(500, TimeUnit.MILLISECONDS)
            .execute(() -> other.abandon("nobody needs it"));
        says(() -> other.run(List.of("never"), LONG));
      }
      says(() -> session.run(List.of("never"), Duration.ofMillis(100)));
    }
  }

  private static void says(Runnable run) {
    try {
      run.run();
      System.out.println("nothing is thrown");
    } catch (IllegalArgumentException | IllegalStateException e) {
      System.out.println(e.getMessage());
    }
  }

  private static String both(Tensor tensor) {
    TFloat32 values = (TFloat32) tensor;
    return values.getFloat(0) + " " + values.getFloat(1);
  }

  /// Returns a graph with weights on the server and their product with the fed tensor on the
  /// worker.
  private static GraphDef graph() {
    try (Graph graph = new Graph()) {
      Ops server = Ops.create(graph).withDevice(DeviceSpec.newBuilder().job("ps").task(0).build());
      Ops worker =
          Ops.create(graph).withDevice(DeviceSpec.newBuilder().job("worker").task(0).build());
      VarHandleOp handle = variable(server, "w");
      var value = server.constant(new float[] {3, 4});
      var assign = server.assignVariableOp(handle, value);
      server.withName("init").withControlDependencies(List.of(assign)).noOp();
      var weights = server.withName("weights").readVariableOp(handle, TFloat32.class);
      var x = worker.withName("x").placeholder(TFloat32.class, Placeholder.shape(Shape.of(2)));
      worker.withName("product").math.mul(x, weights);
      server.withName("uninitialized").readVariableOp(variable(server, "u"), TFloat32.class);
      var queue = server.io.fifoQueue(List.of(TFloat32.class));
      server.withName("never").io.queueDequeue(queue, List.of(TFloat32.class));
      var handedOver = server.io.fifoQueue(List.of(TFloat32.class));
      server.withName("put").io.queueEnqueue(handedOver, List.of(server.constant(7f)));
      server.withName("take").io.queueDequeue(handedOver, List.of(TFloat32.class));
      return graph.toGraphDef();
    }
  }

  private static VarHandleOp variable(Ops tf, String name) {
    return tf.withName(name).varHandleOp(TFloat32.class, Shape.of(2), VarHandleOp.sharedName(name));
  }
}
