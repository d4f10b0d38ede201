// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import static io.weft.collective.CollectiveOptions.named;

import io.weft.Weft;
import io.weft.collective.CollectiveOptions;
import io.weft.perf.rank.RankProgram;
import io.weft.perf.report.RankPrinter;
import io.weft.testkit.traffic.StepTransfers;
import java.io.PrintStream;
import java.util.List;

/// The program of one process of the traffic under Weft: a server, or the client with all workers.
/// Their callbacks run on the progress thread.
public final class TrafficRank {
  private final Weft weft;
  private final TrafficPlan plan;

  private TrafficRank(Weft weft, TrafficPlan plan) {
    this.weft = weft;
    this.plan = plan;
  }

  /// Takes the plan's arguments. Exits with 0, with 1 if the job failed, with 2 for wrong
  /// arguments.
  public static void main(String[] words) {
    RankProgram.exit(words, TrafficRank::measure);
  }

  private static void measure(List<String> words, PrintStream out, PrintStream err)
      throws InterruptedException {
    TrafficPlan plan = TrafficPlan.parse(words);
    try (Weft weft = Weft.init()) {
      TrafficRounds.run(
          plan, "weft", new RankPrinter(out, weft.rank()), new TrafficRank(weft, plan)::run);
    }
  }

  /// Runs this rank's part of one case, which all ranks call. Returns the client's requests.
  private long run(TrafficCase one, long first) throws InterruptedException {
    long before = weft.rendezvous().counts().totals().requests();
    meet("begin", first, one);
    for (int worker = 0; worker < one.workers(); worker++) {
      var transfers =
          new StepTransfers(
              weft.rendezvous(), worker, plan.bytes(), plan.of(weft.rank(), worker), one::wrong);
      if (weft.rank() == TrafficPlan.CLIENT) {
        new TrafficWorker(new Link(transfers), plan.compute(), first, one).start();
      } else {
        serve(transfers, first, one);
      }
    }
    one.await();
    long requests = weft.rendezvous().counts().totals().requests() - before;
    meet("end", first, one);
    return requests;
  }

  private record Link(StepTransfers transfers) implements TrafficWorker.StepLink {

    @Override
    public void fetch(long step, Runnable arrived) {
      transfers.receive(step, last -> arrived.run());
    }

    @Override
    public void bring(long step, boolean last, Runnable taken) {
      transfers.send(
          step,
          last,
          () -> {
            transfers.end(step);
            taken.run();
          });
    }
  }

  /// Provides a worker's next parameters when all gradients of the worker have arrived.
  private static void serve(StepTransfers transfers, long number, TrafficCase one) {
    transfers.send(number, false, () -> {});
    transfers.receive(
        number,
        last -> {
          transfers.end(number);
          if (last) {
            one.ended();
          } else if (!one.isWrong()) {
            serve(transfers, number + 1, one);
          }
        });
  }

  private void meet(String name, long first, TrafficCase one) throws InterruptedException {
    CollectiveOptions options = named("traffic-" + name + "-" + first).within(one.limit());
    var unused = weft.communicator().barrier(options).await();
  }
}
