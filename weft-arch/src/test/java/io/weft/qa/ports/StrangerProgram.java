// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.ports;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.weft.perf.tensorflow.GrpcSession;
import io.weft.qa.strangers.Strangers;
import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.session.Fetched;
import io.weft.transport.spi.Secret;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.tensorflow.types.TFloat32;

/// The program of a stranger on another host, which knows addresses but no secret. It prints the
/// access that it gains.
final class StrangerProgram {

  private static final int CONNECT_MILLIS = 5000;
  private static final long FLOOD_NANOS = Duration.ofSeconds(2).toNanos();
  private static final int CROWD = 20;

  private StrangerProgram() {}

  /// @param arguments `knock`, `besiege JOB` or `compute`, then HOST:PORT...
  public static void main(String[] arguments) throws Exception {
    switch (arguments[0]) {
      case "knock" -> {
        for (InetSocketAddress port : ports(arguments, 1)) {
          System.out.println(knock(port));
        }
      }
      case "besiege" -> besiege(arguments[1], ports(arguments, 2));
      case "compute" -> compute("grpc://" + arguments[1]);
      default -> throw new IllegalArgumentException(arguments[0]);
    }
  }

  private static List<InetSocketAddress> ports(String[] arguments, int from) {
    return Stream.of(arguments)
        .skip(from)
        .map(
            text -> {
              int colon = text.lastIndexOf(':');
              int port = Integer.parseInt(text.substring(colon + 1));
              return new InetSocketAddress(text.substring(0, colon), port);
            })
        .toList();
  }

  private static String knock(InetSocketAddress port) {
    try (Socket socket = new Socket()) {
      socket.connect(port, CONNECT_MILLIS);
      return "reached " + port.getPort();
    } catch (IOException e) {
      return "not reached " + port.getPort() + ": " + e.getMessage();
    }
  }

  /// Runs all attacks of `Strangers`. The replayed handshake represents a recorded one and is made
  /// with the job's secret.
  private static void besiege(String job, List<InetSocketAddress> ports) throws IOException {
    List<String> letIn = new ArrayList<>();
    Secret recorded = Secret.of(System.getenv("RECORDED_SECRET").getBytes(UTF_8));
    try (Strangers strangers = Strangers.at(ports, job, recorded, CROWD, 7)) {
      long end = System.nanoTime() + FLOOD_NANOS;
      while (System.nanoTime() - end < 0) {
        LockSupport.parkNanos(end - System.nanoTime());
      }
      letIn.addAll(strangers.letIn());
      System.out.println("visits " + strangers.visits());
    }
    System.out.println("let in " + letIn);
  }

  /// Runs a graph in the server process at `target`.
  private static void compute(String target) {
    Duration limit = Duration.ofMinutes(1);
    GraphCall call = new GraphCall(List.of(), List.of("answer:0"), List.of());
    try (GrpcSession session = GrpcSession.open(target, ListeningProgram.answer(), limit);
        Fetched fetched = session.run(call, Map.of(), limit)) {
      System.out.println("answer " + ((TFloat32) fetched.get(0)).getFloat());
    }
  }
}
