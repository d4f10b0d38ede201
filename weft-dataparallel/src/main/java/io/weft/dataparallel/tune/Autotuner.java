// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.tune;

import io.weft.collective.CollectiveOptions;
import io.weft.collective.Communicator;
import io.weft.tensor.DType;
import io.weft.tensor.ReduceOp;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// Changes sizes while a job trains, and keeps those with which a step of the slowest rank is
/// shortest. All ranks make one alike and call `stepEnded` after each step; they agree on each
/// sample by one short allreduce, so that all change at the same step. One thread.
///
/// A sample is the median of some steps, at least five, as many as take 0.5 s; the first two steps
/// after a change do not count.
public final class Autotuner {

  private static final String NAME = "weft/autotune";
  private static final long SAMPLE_NANOS = 500_000_000;
  private static final int LEAST_STEPS = 5;
  private static final int MOST_STEPS = 200;
  private static final int SKIPPED_STEPS = 2;

  private final Communicator communicator;
  private final List<TunedParameter> parameters;
  private final TuningSearch search;
  private final TuningTarget target;
  private final TuningLog log;
  private final long[] steps = new long[MOST_STEPS];
  private int sampleSteps = LEAST_STEPS;
  private int seen = -SKIPPED_STEPS;
  private int samples;
  private boolean calibrated;

  /// Changes `target`, which has the values with which the parameters begin.
  ///
  /// @param log hears of each sample; the same or another on each rank
  public Autotuner(
      Communicator communicator,
      List<TunedParameter> parameters,
      TuningTarget target,
      TuningLog log) {
    this.communicator = communicator;
    this.parameters = List.copyOf(parameters);
    this.search = new TuningSearch(this.parameters);
    this.target = target;
    this.log = log;
  }

  /// What is changed. All ranks apply the same values at the same step, while nothing is in flight.
  @FunctionalInterface
  public interface TuningTarget {

    /// Takes these values, in the order of the parameters.
    void apply(List<Long> values) throws InterruptedException;
  }

  /// Hears of each sample.
  @FunctionalInterface
  public interface TuningLog {

    /// @param sample from 1
    /// @param values in the order of the parameters
    /// @param micros of a step of the slowest rank
    void sampled(int sample, List<Long> values, double micros);
  }

  /// Whether the search is over, and the best values hold.
  public boolean isDone() {
    return search.proposal().isEmpty();
  }

  /// The parameters' names and the best values so far, for people.
  public String best() {
    List<String> words = new ArrayList<>();
    for (int p = 0; p < parameters.size(); p++) {
      words.add(parameters.get(p).name() + "=" + search.best().get(p));
    }
    return String.join(", ", words);
  }

  /// The best values so far, in the order of the parameters.
  public List<Long> values() {
    return search.best();
  }

  /// A step of this rank took so long. Waits for the other ranks at the end of a sample.
  public void stepEnded(long nanos) throws InterruptedException {
    if (isDone()) {
      return;
    }
    if (seen >= 0) {
      steps[seen] = nanos;
    }
    seen++;
    if (seen < sampleSteps) {
      return;
    }
    double slowest = slowest(median());
    seen = -SKIPPED_STEPS;
    if (!calibrated) {
      calibrated = true;
      sampleSteps = Math.clamp(SAMPLE_NANOS / Math.max(1, (long) slowest), LEAST_STEPS, MOST_STEPS);
      if (sampleSteps > LEAST_STEPS) {
        return; // the first sample was too short to compare others with
      }
    }
    samples++;
    log.sampled(samples, search.proposal().orElseThrow(), slowest / 1e3);
    search.measured(slowest);
    Optional<List<Long>> next = search.proposal();
    target.apply(next.orElse(search.best()));
  }

  private long median() {
    long[] sorted = Arrays.copyOf(steps, sampleSteps);
    Arrays.sort(sorted);
    return sorted[sampleSteps / 2];
  }

  private double slowest(long own) throws InterruptedException {
    if (communicator.size() == 1) {
      return (double) own;
    }
    try (Arena arena = Arena.ofShared()) {
      MemorySegment memory = arena.allocate(ValueLayout.JAVA_DOUBLE);
      memory.set(ValueLayout.JAVA_DOUBLE, 0, (double) own);
      var view = new TensorView(DType.FLOAT64, Shape.of(1), memory);
      var unused =
          communicator.allreduce(view, view, ReduceOp.MAX, CollectiveOptions.named(NAME)).await();
      return memory.get(ValueLayout.JAVA_DOUBLE, 0);
    }
  }
}
