// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.traffic;

import static io.weft.collective.CollectiveOptions.named;

import io.weft.Weft;
import io.weft.collective.CollectiveOptions;
import io.weft.perf.rank.RankProgram;
import java.io.PrintStream;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;

/// The program of one process of the traffic under Weft: a server, or the client, which prints the
/// lines that `TrafficReport` reads.
public final class TrafficRank {

  /// The time after the window in which a slow worker may still end.
  private static final Duration ENDING = Duration.ofMinutes(2);

  /// The first warm-up is this many times longer, because the JVM compiles the timed code in it.
  private static final int COMPILING_TIMES = 5;

  /// A number above a worker's steps in one case. The step numbers of case n begin at n times this
  /// number.
  private static final long STEPS_OF_A_CASE = 1L << 24;

  private final Weft weft;
  private final TrafficPlan plan;
  private final PrintStream out;
  private final ScheduledExecutorService timer =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("weft-traffic-compute").factory());
  private long cases;

  private TrafficRank(Weft weft, TrafficPlan plan, PrintStream out) {
    this.weft = weft;
    this.plan = plan;
    this.out = out;
  }

  /// Takes the plan's arguments. Exits with 0, with 1 if the job failed, with 2 for wrong
  /// arguments.
  public static void main(String[] words) {
    RankProgram program = TrafficRank::measure;
    System.exit(program.run(words, System.out, System.err));
  }

  private static void measure(List<String> words, PrintStream out, PrintStream err)
      throws InterruptedException {
    TrafficPlan plan = TrafficPlan.parse(words);
    try (Weft weft = Weft.init()) {
      new TrafficRank(weft, plan, out).runAll();
    }
  }

  private void runAll() throws InterruptedException {
    say("peer weft");
    run(plan.most(), plan.warmUp().multipliedBy(COMPILING_TIMES), Duration.ofMillis(1));
    for (int workers : plan.workers()) {
      say("case " + workers + " " + run(workers, plan.warmUp(), plan.window()));
    }
    say("done");
  }

  private void say(String line) {
    if (weft.rank() == TrafficPlan.CLIENT) {
      out.println(line);
      out.flush();
    }
  }

  /// Runs this rank's part of one case, which all ranks call. Returns the end of its report line.
  private String run(int workers, Duration warmUp, Duration length) throws InterruptedException {
    long first = cases++ * STEPS_OF_A_CASE;
    CaseEnd end = new CaseEnd(workers);
    MeasuringWindow window = new MeasuringWindow(warmUp, length);
    long before = weft.rendezvous().counts().requests();
    Duration limit = warmUp.plus(length).plus(ENDING);
    meet("begin", limit);
    if (weft.rank() == TrafficPlan.CLIENT) {
      var cell = new TrafficCell(timer, window, end);
      for (int worker = 0; worker < workers; worker++) {
        new TrafficWorker(plan, weft.rendezvous(), worker, first, cell).start();
      }
    } else {
      new TrafficServer(plan, weft.rank(), weft.rendezvous(), end).start(workers, first);
    }
    end.await(limit);
    long requests = weft.rendezvous().counts().requests() - before;
    meet("end", limit);
    return "checked " + window.words(requests);
  }

  private void meet(String name, Duration limit) throws InterruptedException {
    CollectiveOptions options = named("traffic-" + name + "-" + cases).within(limit);
    var unused = weft.communicator().barrier(options).await();
  }
}
