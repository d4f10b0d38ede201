// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.order;

import static io.weft.collective.CollectiveOptions.named;

import io.weft.Weft;
import io.weft.perf.order.PartRun.Order;
import io.weft.perf.rank.RankProgram;
import io.weft.perf.report.RankPrinter;
import io.weft.tensorflow.cluster.ClusterSpec;
import io.weft.tensorflow.cluster.Task;
import io.weft.tensorflow.partition.GraphPartition;
import io.weft.tensorflow.partition.Partitioner;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.tensorflow.Graph;
import org.tensorflow.Result;
import org.tensorflow.Session;
import org.tensorflow.exceptions.TensorFlowException;
import org.tensorflow.types.TFloat32;

/// The program of one of the two tasks of `weft perf order`. Rank 0 has the decoder and prints the
/// report, rank 1 has the encoder. Steps in the order of need and of readiness alternate.
public final class OrderRank {

  private static final String USAGE = "usage: BATCH STEPS LIMIT_SECONDS";
  private static final int WARM_UP_STEPS = 3;

  /// The relative error of a result, because TensorFlow may add in another order.
  private static final float TOLERANCE = 1e-3f;

  private static final Task ENCODER = new Task(SplitUNet.ENCODER, 0);
  private static final Task DECODER = new Task(SplitUNet.DECODER, 0);

  private final Weft weft;
  private final Duration limit;
  private final float[] expected;
  private boolean right = true;

  private OrderRank(Weft weft, Duration limit, float[] expected) {
    this.weft = weft;
    this.limit = limit;
    this.expected = expected;
  }

  /// Exits with the program's exit code.
  public static void main(String[] arguments) {
    RankProgram.exit(arguments, OrderRank::measure);
  }

  private static void measure(List<String> words, PrintStream out, PrintStream err)
      throws InterruptedException {
    if (words.size() != 3 || !words.stream().allMatch(each -> each.matches("[1-9]\\d{0,8}"))) {
      throw new IllegalArgumentException(USAGE);
    }
    int batch = Integer.parseInt(words.get(0));
    int steps = Integer.parseInt(words.get(1));
    Duration limit = Duration.ofSeconds(Long.parseLong(words.get(2)));
    try (Weft weft = Weft.init()) {
      var printer = new RankPrinter(out, weft.rank());
      printer.peer("weft");
      float[] expected = weft.rank() == 0 ? whole(batch) : new float[0];
      new OrderRank(weft, limit, expected).alternate(batch, steps, printer);
      printer.done();
    } catch (TensorFlowException e) {
      throw new IllegalStateException(e.getMessage(), e);
    }
  }

  /// Returns the result of the whole network in this process.
  private static float[] whole(int batch) {
    try (Graph graph = new Graph();
        TFloat32 one = TFloat32.scalarOf(1)) {
      graph.importGraphDef(SplitUNet.whole(batch).graph());
      try (Session session = new Session(graph, PartRun.config())) {
        Session.Runner runner = session.runner().feed(SplitUNet.STEP.feeds().getFirst(), one);
        try (Result result = runner.fetch(SplitUNet.STEP.fetches().getFirst()).run()) {
          return PartRun.values((TFloat32) result.get(0));
        }
      }
    }
  }

  private void alternate(int batch, int steps, RankPrinter printer) throws InterruptedException {
    ClusterSpec cluster =
        ClusterSpec.of(
            Map.of(
                SplitUNet.ENCODER, List.of("127.0.0.1:1"),
                SplitUNet.DECODER, List.of("127.0.0.1:2")));
    Task own = weft.rank() == 0 ? DECODER : ENCODER;
    GraphPartition partition =
        new Partitioner(cluster, DECODER)
            .partition(SplitUNet.split(batch).graph(), SplitUNet.STEP.fetches());
    List<PartRun> runs = new ArrayList<>();
    try {
      for (Order order : Order.values()) {
        runs.add(new PartRun(weft, partition, own, task -> task.equals(DECODER) ? 0 : 1, order));
      }
      long[][] nanos = new long[runs.size()][steps];
      for (int step = -WARM_UP_STEPS; step < steps; step++) {
        for (int turn = 0; turn < runs.size(); turn++) {
          int at = (step + WARM_UP_STEPS + turn) % runs.size();
          long taken = step(runs.get(at), 1 << (turn + 1));
          if (step >= 0) {
            nanos[at][step] = taken;
          }
        }
      }
      for (int i = 0; i < nanos.length; i++) {
        printer.times(runs.get(i).order().word(), right, nanos[i]);
      }
    } finally {
      runs.forEach(PartRun::close);
    }
  }

  /// Runs one step on both ranks. Returns its time on this rank.
  private long step(PartRun run, float scale) throws InterruptedException {
    meet();
    long begin = System.nanoTime();
    float[] result = run.run(scale, limit);
    long nanos = System.nanoTime() - begin;
    for (int i = 0; i < expected.length; i++) {
      float exact = expected[i] * scale;
      right &= result.length == expected.length;
      right &= right && Math.abs(result[i] - exact) <= TOLERANCE * Math.abs(exact);
    }
    meet();
    run.end();
    return nanos;
  }

  private void meet() throws InterruptedException {
    var unused = weft.communicator().barrier(named("order")).await();
  }
}
