// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.sendrecv;

import io.weft.TransferCounts;
import io.weft.tensor.TensorView;
import io.weft.tensorflow.TensorViews;
import io.weft.tensorflow.session.Fetched;
import io.weft.transport.limit.ClampedDuration;
import io.weft.workloads.parameterserver.GraphSession;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import org.tensorflow.types.TFloat32;

/// One case in its session: a warm-up followed by timed steps. Each step's result is compared. The
/// whole content is compared before the first step and after the last. Confined to one thread.
final class CaseRun implements AutoCloseable {

  private static final int FEWEST_STEPS = 3;

  private final ExchangeGraph exchange;
  private final GraphSession session;
  private final Duration limit;
  private final Callable<TransferCounts> transfers;
  private TransferCounts moved = TransferCounts.NONE;
  private int generation;
  private boolean right = true;

  /// @param limit the time limit of each step
  /// @param transfers returns the counts of all ranks so far
  CaseRun(
      ExchangeGraph exchange,
      GraphSession session,
      Duration limit,
      Callable<TransferCounts> transfers) {
    this.exchange = exchange;
    this.session = session;
    this.limit = limit;
    this.transfers = transfers;
  }

  /// The times of a case.
  ///
  /// @param nanos time of each step
  /// @param right true if every result was right
  /// @param requests number of requests of one step, -1 if unknown
  /// @param transfers the counts of all steps
  record StepTimes(long[] nanos, boolean right, double requests, TransferCounts transfers) {}

  /// Runs untimed steps for `duration`, at least three.
  void warmUp(Duration duration) throws InterruptedException {
    write();
    long begin = System.nanoTime();
    for (int t = 0;
        t < FEWEST_STEPS || System.nanoTime() - begin < ClampedDuration.nanos(duration);
        t++) {
      step();
    }
    compare();
  }

  /// Times `steps` steps. Between the halves, the variables get other values outside the timed
  /// part.
  StepTimes measure(int steps) throws InterruptedException {
    long[] nanos = new long[steps];
    int half = (steps + 1) / 2;
    moved = TransferCounts.NONE;
    long requests = measure(nanos, 0, half) + measure(nanos, half, steps);
    compare();
    return new StepTimes(nanos, right, requests < 0 ? -1 : (double) requests / steps, moved);
  }

  /// Times the steps `from` to `to`. Returns their number of requests, -1 if unknown.
  private long measure(long[] nanos, int from, int to) throws InterruptedException {
    write();
    step();
    TransferCounts begun = transfers();
    long before = session.requests();
    for (int t = from; t < to; t++) {
      nanos[t] = step();
    }
    moved = moved.plus(transfers().minus(begun));
    return before < 0 ? -1 : session.requests() - before;
  }

  private TransferCounts transfers() throws InterruptedException {
    try {
      return transfers.call();
    } catch (InterruptedException | RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private long step() throws InterruptedException {
    long begin = System.nanoTime();
    try (Fetched fetched = session.run(ExchangeGraph.STEP, Map.of(), limit)) {
      long end = System.nanoTime();
      float last = values(fetched).get(ValueLayout.JAVA_FLOAT, 0);
      right &= last == exchange.last(generation);
      return end - begin;
    }
  }

  private void write() throws InterruptedException {
    if (exchange.tensors() == 0) {
      return;
    }
    generation = generation % ExchangeGraph.MOST_GENERATIONS + 1;
    try (TFloat32 next = TFloat32.scalarOf(generation)) {
      session.run(ExchangeGraph.WRITE, Map.of("generation", next), limit).close();
    }
  }

  private void compare() throws InterruptedException {
    if (exchange.tensors() == 0) {
      return;
    }
    try (Fetched fetched = session.run(ExchangeGraph.WHOLE, Map.of(), limit)) {
      MemorySegment sum = values(fetched);
      right &= sum.byteSize() == (long) exchange.elements() * Float.BYTES;
      for (int j = 0; right && j < exchange.elements(); j++) {
        right = sum.getAtIndex(ValueLayout.JAVA_FLOAT, j) == exchange.sum(j, generation);
      }
    }
  }

  private static MemorySegment values(Fetched fetched) {
    TensorView view = TensorViews.of(fetched.get(0));
    return view.data();
  }

  @Override
  public void close() {
    session.close();
  }
}
