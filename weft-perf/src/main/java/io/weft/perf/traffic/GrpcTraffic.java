// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import io.grpc.ManagedChannel;
import io.weft.perf.grpc.Connection;
import io.weft.perf.process.ServerProcess;
import io.weft.perf.rank.RankProgram;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

/// The client of `weft perf wide-deep-traffic` under grpc-java. It takes the plan's arguments like
/// all contestants, starts the servers, opens one connection to each of them for all workers, and
/// prints the lines that `TrafficReport` reads. Each tensor and each gradient is a unary call, as
/// under TensorFlow's own gRPC runtime.
public final class GrpcTraffic {

  /// The time in which a slow worker may end after the window.
  private static final Duration ENDING = Duration.ofMinutes(2);

  /// The factor of the first warm-up, during which the JVM compiles the timed code, as under Weft.
  private static final int COMPILING_TIMES = 5;

  /// A bound on a worker's steps in a case, which separates the step numbers of cases.
  private static final int STEPS_OF_A_CASE = 1 << 24;

  private final TrafficPlan plan;
  private final List<ManagedChannel> servers;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("traffic-compute").factory());
  private int cases;

  private GrpcTraffic(TrafficPlan plan, List<ManagedChannel> servers) {
    this.plan = plan;
    this.servers = servers;
  }

  /// Takes the plan's arguments. Exits with 0, with 1 if a call failed, with 2 for wrong arguments.
  public static void main(String[] words) {
    RankProgram program = GrpcTraffic::measure;
    System.exit(program.run(words, System.out, System.err));
  }

  private static void measure(List<String> words, PrintStream out, PrintStream err)
      throws InterruptedException {
    TrafficPlan plan = TrafficPlan.parse(words);
    List<ServerProcess> processes = new ArrayList<>();
    List<Connection> connections = new ArrayList<>();
    try {
      for (int server = 1; server <= plan.servers(); server++) {
        int tensors = plan.tensorsOf(server).size();
        processes.add(ServerProcess.start(TensorServer.class, "" + tensors, "" + plan.bytes()));
      }
      for (ServerProcess process : processes) {
        connections.add(Connection.to(process.port()));
      }
      new GrpcTraffic(plan, connections.stream().map(Connection::channel).toList()).runAll(out);
    } catch (IOException e) {
      throw new IllegalStateException("a server does not start: " + e.getMessage(), e);
    } finally {
      connections.forEach(Connection::close);
      processes.forEach(ServerProcess::close);
    }
  }

  private void runAll(PrintStream out) throws InterruptedException {
    out.println("peer " + Connection.peer());
    run(plan.most(), plan.warmUp().multipliedBy(COMPILING_TIMES), Duration.ofMillis(1));
    for (int workers : plan.workers()) {
      out.println("case " + workers + " " + run(workers, plan.warmUp(), plan.window()));
      out.flush();
    }
    out.println("done");
    out.flush();
  }

  /// Runs one case and returns the words of its report. Each worker makes one request per tensor of
  /// a step.
  private String run(int workers, Duration warmUp, Duration length) throws InterruptedException {
    int first = cases++ * STEPS_OF_A_CASE;
    var cell = new TrafficCell(timer, new MeasuringWindow(warmUp, length), new CaseEnd(workers));
    for (int worker = 0; worker < workers; worker++) {
      new TensorWorker(plan, servers, worker, first, cell).start();
    }
    cell.end().await(warmUp.plus(length).plus(ENDING));
    return "checked " + cell.window().words(plan.tensors() * cell.window().steps());
  }
}
