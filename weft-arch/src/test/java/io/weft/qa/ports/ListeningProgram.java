// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.ports;

import io.weft.Weft;
import io.weft.perf.tensorflow.GrpcServer;
import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.session.Fetched;
import io.weft.tensorflow.session.WeftServer;
import io.weft.tensorflow.session.WeftSession;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.tensorflow.DeviceSpec;
import org.tensorflow.Graph;
import org.tensorflow.op.Ops;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.types.TFloat32;

/// The program of a task that listens, under Weft or under TensorFlow's own runtime, until its
/// standard input ends. Weft's worker runs one step at the beginning and one at the end.
final class ListeningProgram {

  static final Task SERVER = new Task("ps", 0);
  private static final Duration LONG = Duration.ofMinutes(2);
  private static final GraphCall ANSWER = new GraphCall(List.of(), List.of("answer:0"), List.of());

  private ListeningProgram() {}

  /// @param arguments `weft`, or `grpc PORT`
  public static void main(String[] arguments) throws Exception {
    if (arguments[0].equals("weft")) {
      underWeft();
    } else {
      GrpcServer server = GrpcServer.start(alone(arguments[1]), SERVER);
      System.out.println("serving " + server.target());
      awaitEnd();
    }
  }

  /// Returns a cluster with a loopback address.
  private static ClusterSpec alone(String port) {
    return ClusterSpec.of(Map.of("ps", List.of("127.0.0.1:" + port)));
  }

  private static void underWeft() throws Exception {
    ClusterSpec cluster = ClusterSpec.of(Map.of("ps", List.of("p:1"), "worker", List.of("w:1")));
    try (Weft weft = Weft.init();
        WeftServer server = WeftServer.start(weft, cluster)) {
      if (server.task().equals(SERVER)) {
        System.out.println("serving");
        server.join(LONG);
        return;
      }
      try (WeftSession session = WeftSession.open(server, answer(), LONG)) {
        step(session);
        awaitEnd();
        step(session);
      }
    }
  }

  private static void step(WeftSession session) throws InterruptedException {
    try (Fetched fetched = session.run(ANSWER, Map.of(), LONG)) {
      System.out.println("answer " + ((TFloat32) fetched.get(0)).getFloat());
    }
  }

  /// Returns a graph whose result the server computes.
  static GraphDef answer() {
    try (Graph graph = new Graph()) {
      Ops server = Ops.create(graph).withDevice(DeviceSpec.newBuilder().job("ps").task(0).build());
      server.withName("answer").math.mul(server.constant(6f), server.constant(7f));
      return graph.toGraphDef();
    }
  }

  private static void awaitEnd() throws IOException {
    while (System.in.read() >= 0) {
      // Input is ignored. Only its end matters.
    }
  }
}
