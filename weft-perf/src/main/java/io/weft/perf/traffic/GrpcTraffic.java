// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.weft.perf.grpc.Connection;
import io.weft.perf.grpc.UnaryCall;
import io.weft.perf.process.ServerProcess;
import io.weft.perf.rank.RankProgram;
import io.weft.perf.report.RankPrinter;
import io.weft.perf.traffic.TensorServer.TensorKey;
import io.weft.perf.traffic.TrafficWorker.StepLink;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Predicate;

/// The client of `weft perf wide-deep-traffic` under grpc-java. It takes the plan's arguments like
/// all contestants, starts the servers, and opens one connection to each of them for all workers.
/// Each tensor and each gradient is a unary call, as under TensorFlow's own gRPC runtime.
public final class GrpcTraffic {
  private final TrafficPlan plan;
  private final List<ManagedChannel> servers;

  private GrpcTraffic(TrafficPlan plan, List<ManagedChannel> servers) {
    this.plan = plan;
    this.servers = servers;
  }

  /// Takes the plan's arguments. Exits with 0, with 1 if a call failed, with 2 for wrong arguments.
  public static void main(String[] words) {
    RankProgram.exit(words, GrpcTraffic::measure);
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
      var client = new GrpcTraffic(plan, connections.stream().map(Connection::channel).toList());
      TrafficRounds.run(plan, Connection.peer(), new RankPrinter(out, 0), client::run);
    } catch (IOException e) {
      throw new IllegalStateException("a server does not start: " + e.getMessage(), e);
    } finally {
      connections.forEach(Connection::close);
      processes.forEach(ServerProcess::close);
    }
  }

  private long run(TrafficCase one, long first) throws InterruptedException {
    for (int worker = 0; worker < one.workers(); worker++) {
      new TrafficWorker(new Calls(worker, first, one), plan.compute(), first, one).start();
    }
    one.await();
    return -1;
  }

  /// The calls of one worker.
  private final class Calls implements StepLink {
    private final int worker;
    private final long first;
    private final TrafficCase one;

    Calls(int worker, long first, TrafficCase one) {
      this.worker = worker;
      this.first = first;
      this.one = one;
    }

    @Override
    public void fetch(long step, Runnable arrived) {
      callAll(
          TensorServer.FETCH,
          step,
          TensorKey::message,
          key -> answer -> key.isTensor(answer, plan.bytes()),
          arrived);
    }

    @Override
    public void bring(long step, boolean last, Runnable taken) {
      callAll(
          TensorServer.BRING,
          step,
          key -> key.messageWith(plan.bytes()),
          key -> answer -> answer.length == 0,
          taken);
    }

    private void callAll(
        MethodDescriptor<byte[], byte[]> method,
        long step,
        Function<TensorKey, byte[]> request,
        Function<TensorKey, Predicate<byte[]>> right,
        Runnable ended) {
      AtomicInteger left = new AtomicInteger(plan.tensors());
      int before = step == first ? TensorServer.NONE : (int) step - 1;
      for (int tensor = 0; tensor < plan.tensors(); tensor++) {
        TensorKey key = new TensorKey(worker, tensor, (int) step, before);
        UnaryCall.start(
            servers.get(tensor % servers.size()),
            method,
            request.apply(key),
            (status, answer) -> {
              if (!status.isOk()) {
                one.wrong("a call failed: " + status);
              } else if (!right.apply(key).test(answer)) {
                one.wrong("an answer does not match its key");
              } else if (left.decrementAndGet() == 0) {
                ended.run();
              }
            });
      }
    }
  }
}
