// SPDX-License-Identifier: Apache-2.0
package io.weft.tensorflow.endurance;

import io.weft.tensorflow.partition.GraphCall;
import io.weft.tensorflow.session.Fetched;
import io.weft.tensorflow.session.StepException;
import io.weft.tensorflow.session.WeftServer;
import io.weft.tensorflow.session.WeftSession;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import org.tensorflow.Graph;
import org.tensorflow.Tensor;
import org.tensorflow.ndarray.Shape;
import org.tensorflow.op.Ops;
import org.tensorflow.op.core.Placeholder;
import org.tensorflow.proto.GraphDef;
import org.tensorflow.types.TFloat32;

/// Steps that are cancelled in two of three cases. The worker feeds a number, the server makes of
/// it a tensor that is too long for one message, and the worker sums the tensor. A step is
/// cancelled at a random moment between its start and 1.5 times the usual duration.
final class Cancellations implements Endured {

  private static final Duration LIMIT = Duration.ofMinutes(2);
  private static final int ELEMENTS = 20_000;
  private static final int NUMBERS = 8;
  private static final long FIRST_NANOS = 1_000_000;
  private static final String WHY = "not wanted any more";
  private static final GraphCall SUM = new GraphCall(List.of("x"), List.of("sum:0"), List.of());

  private final WeftSession session;
  private final Random random;
  private final ExecutorService canceller =
      Executors.newSingleThreadExecutor(Thread.ofPlatform().daemon().name("canceller").factory());
  private long usualNanos = FIRST_NANOS;
  private int done;
  private int cancelled;

  Cancellations(Options options, WeftServer server) throws InterruptedException {
    this.session = WeftSession.open(server, graph(), LIMIT);
    this.random = new Random(options.seed());
  }

  private static GraphDef graph() {
    try (Graph graph = new Graph()) {
      Ops worker = Ops.create(graph).withDevice(EnduranceRank.device("worker"));
      Ops server = Ops.create(graph).withDevice(EnduranceRank.device("ps"));
      var x = worker.withName("x").placeholder(TFloat32.class, Placeholder.shape(Shape.of()));
      var there = server.math.add(x, server.constant(1f));
      var many = server.fill(server.constant(new int[] {ELEMENTS}), there);
      worker.withName("sum").sum(many, worker.constant(0));
      return graph.toGraphDef();
    }
  }

  @Override
  public void step(int number) throws InterruptedException {
    boolean wanted = random.nextInt(3) == 0;
    long nanos = (long) (random.nextDouble() * 1.5 * usualNanos);
    CompletableFuture<Void> cancelling =
        wanted
            ? CompletableFuture.completedFuture(null)
            : CompletableFuture.runAsync(() -> cancelAfter(nanos), canceller);
    long begin = System.nanoTime();
    try {
      run(number % NUMBERS);
      done++;
      usualNanos += (System.nanoTime() - begin - usualNanos) / 8;
    } catch (StepException e) {
      if (e.reason() != StepException.Reason.CANCELLED || !e.getMessage().contains(WHY)) {
        throw new IllegalStateException("step " + number + " was not cancelled but failed", e);
      }
      cancelled++;
    } finally {
      cancelling.join();
    }
  }

  private void cancelAfter(long nanos) {
    LockSupport.parkNanos(nanos);
    session.cancel(WHY);
  }

  private void run(int x) throws InterruptedException {
    try (TFloat32 fed = TFloat32.scalarOf(x);
        Fetched fetched = session.run(SUM, Map.<String, Tensor>of("x", fed), LIMIT)) {
      float sum = ((TFloat32) fetched.get(0)).getFloat();
      if (sum != (float) ELEMENTS * (x + 1)) {
        throw new IllegalStateException(
            "the sum is %s, expected %d".formatted(sum, ELEMENTS * (x + 1)));
      }
    }
  }

  @Override
  public String summary() {
    if (done == 0 || cancelled == 0) {
      throw new IllegalStateException(done + " steps were done and " + cancelled + " cancelled");
    }
    return "%d steps done, their sums right; %d cancelled".formatted(done, cancelled);
  }

  @Override
  public void close() {
    canceller.shutdown();
    session.close();
  }
}
