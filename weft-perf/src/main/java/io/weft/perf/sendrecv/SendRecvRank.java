// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.sendrecv;

import io.weft.Weft;
import io.weft.cluster.LaunchEnvironment;
import io.weft.comm.CommException;
import io.weft.perf.tensorflow.GrpcServer;
import io.weft.perf.tensorflow.GrpcSession;
import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.session.StepException;
import io.weft.tensorflow.session.WeftServer;
import io.weft.tensorflow.session.WeftSession;
import io.weft.workloads.parameterserver.GraphSession;
import java.io.PrintStream;
import java.lang.management.CompilationMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.tensorflow.TensorFlow;
import org.tensorflow.exceptions.TensorFlowException;

/// The program of one of the two tasks of `weft perf sendrecv`. The environment names its rank.
/// Rank 0 measures and prints the lines `times BYTES checked|wrong NANOS...`, and `requests NUMBER`
/// if its runtime counts requests, for each case. It exits with 0, with 1 if a step failed, with 2
/// for wrong arguments.
public final class SendRecvRank {

  /// The longest time that a producer serves.
  private static final Duration SERVING = Duration.ofHours(4);

  /// The least and the greatest number of rounds over all cases before the compiler counts as idle.
  private static final int FEWEST_TURNS = 4;

  private static final int MOST_TURNS = 10;
  private static final long PAUSE_MILLIS = 300;

  /// The time of compilation in a round that is too short to matter.
  private static final long AT_REST_MILLIS = 50;

  /// A placeholder, because no task listens at its address under Weft.
  private static final int NO_PORT = 1;

  private SendRecvRank() {}

  /// Exits with the program's exit code.
  public static void main(String[] arguments) {
    System.exit(run(arguments, System.out, System.err));
  }

  private static int run(String[] words, PrintStream out, PrintStream err) {
    int code = 0;
    try {
      SendRecvArguments arguments = SendRecvArguments.parse(List.of(words));
      if (arguments.ports().isEmpty()) {
        underWeft(arguments, out);
      } else {
        underGrpc(arguments, out);
      }
    } catch (IllegalArgumentException e) {
      err.println(e.getMessage());
      code = 2;
    } catch (CommException | StepException | IllegalStateException | TensorFlowException e) {
      err.println(e.getMessage());
      code = 1;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      err.println("interrupted");
      code = 1;
    }
    out.flush();
    err.flush();
    return code;
  }

  private static void underWeft(SendRecvArguments arguments, PrintStream out)
      throws InterruptedException {
    ClusterSpec cluster = Tasks.cluster(NO_PORT, NO_PORT + 1);
    try (Weft weft = Weft.init();
        WeftServer server = WeftServer.start(weft, cluster)) {
      if (weft.rank() > 0) {
        server.join(SERVING);
        return;
      }
      out.println("peer weft");
      measure(
          arguments,
          (graph, limit) ->
              new GraphSession.OfWeft(
                  WeftSession.open(server, graph, limit),
                  () -> weft.rendezvous().counts().requests()),
          out);
    }
  }

  private static void underGrpc(SendRecvArguments arguments, PrintStream out)
      throws InterruptedException {
    int rank = LaunchEnvironment.detect(System.getenv()).rank();
    ClusterSpec cluster = Tasks.cluster(arguments.ports().get(0), arguments.ports().get(1));
    GrpcServer server = GrpcServer.start(cluster, Tasks.of(rank));
    try (GrpcSession end = GrpcSession.open(server, EndSignal.graph(), arguments.limit())) {
      if (rank > 0) {
        end.run(List.of(EndSignal.AWAIT), SERVING);
        return;
      }
      out.println("peer grpc tensorflow " + TensorFlow.version());
      measure(arguments, (graph, limit) -> GrpcSession.open(server, graph, limit), out);
      end.run(List.of(EndSignal.LEAVE), arguments.limit());
    }
  }

  private static void measure(
      SendRecvArguments arguments, GraphSession.Opener opener, PrintStream out)
      throws InterruptedException {
    Duration limit = arguments.limit();
    List<CaseRun> runs = new ArrayList<>();
    try {
      for (SendRecvArguments.SendRecvCase one : arguments.cases()) {
        ExchangeGraph exchange = ExchangeGraph.of(one.tensors(), one.elements());
        CaseRun run = new CaseRun(exchange, opener.open(exchange.graph(), limit), limit);
        runs.add(run);
      }
      compile(runs, arguments.warmUp());
      for (int i = 0; i < runs.size(); i++) {
        runs.get(i).warmUp(arguments.warmUp());
        say(arguments.cases().get(i), runs.get(i).measure(arguments.cases().get(i).steps()), out);
      }
    } finally {
      runs.forEach(CaseRun::close);
    }
    out.println("done");
  }

  /// Runs rounds of untimed cases with pauses for the compiler.
  private static void compile(List<CaseRun> runs, Duration each) throws InterruptedException {
    boolean compiled = true;
    for (int turn = 0; turn < FEWEST_TURNS || (compiled && turn < MOST_TURNS); turn++) {
      long before = compilingMillis();
      for (CaseRun run : runs) {
        run.warmUp(each);
      }
      TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      compiled = compilingMillis() - before > AT_REST_MILLIS;
    }
  }

  private static long compilingMillis() {
    @Nullable CompilationMXBean compiler = ManagementFactory.getCompilationMXBean();
    return compiler == null ? 0 : compiler.getTotalCompilationTime();
  }

  private static void say(
      SendRecvArguments.SendRecvCase one, CaseRun.StepTimes times, PrintStream out) {
    StringBuilder line = new StringBuilder("times ").append(one.bytes());
    line.append(times.right() ? " checked" : " wrong");
    for (long nanos : times.nanos()) {
      line.append(' ').append(nanos);
    }
    out.println(line);
    if (times.requests() >= 0) {
      out.println("requests " + times.requests());
    }
    out.flush();
  }
}
