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

/// Changes sizes while a job trains, and keeps those with which a step of the slowest rank is
/// shortest. All ranks make one alike and call `stepEnded` after each step; they agree on each
/// sample by one short allreduce, so that all change at the same step. One thread.
///
/// A sample is the lower quartile of some steps, at least five, as many as take 0.3 s: what other
/// processes take from some of them does not count. The first two steps after a change do not count
/// either. The first point is measured until it is no longer faster than before, since code is
/// compiled meanwhile. When the search is over, or after 60 samples, its best four points are
/// measured three times more, in turns, and the one with the shortest sample holds.
public final class Autotuner {

  /// Names of the columns of a log in CSV, for the parameters of `TunedSizes`.
  public static final String LOG_HEAD = "sample,fusion_threshold,segment_bytes,window,step_micros";

  private static final String NAME = "weft/autotune";
  private static final long SAMPLE_NANOS = 300_000_000;
  private static final int LEAST_STEPS = 5;
  private static final int MOST_STEPS = 200;
  private static final int SKIPPED_STEPS = 2;
  private static final int MOST_SAMPLES = 60;
  private static final int MOST_WARM_UPS = 8;
  private static final double WARM = 0.95;
  private static final int FINALISTS = 4;
  private static final int ROUNDS = 3;

  private final Communicator communicator;
  private final List<TunedParameter> parameters;
  private final TuningSearch search;
  private final TuningTarget target;
  private final TuningLog log;
  private final long[] steps = new long[MOST_STEPS];
  private int sampleSteps = LEAST_STEPS;
  private int seen = -SKIPPED_STEPS;
  private int samples;
  private int warmUps;
  private double before = Double.POSITIVE_INFINITY;
  private List<List<Long>> finalists = List.of();
  private double[] shortest = new double[0];
  private int turn;
  private List<Long> chosen = List.of();

  /// Changes `target`, which has the values with which the parameters begin.
  ///
  /// @param log hears of each sample; the same or another on each rank
  public Autotuner(
      Communicator communicator,
      List<TunedParameter> parameters,
      TuningTarget target,
      TuningLog log) {
    this(communicator, parameters, List.of(), target, log);
  }

  /// The same, which begins with points that are good in general.
  ///
  /// @param candidates values in the order of the parameters, the same on all ranks
  public Autotuner(
      Communicator communicator,
      List<TunedParameter> parameters,
      List<List<Long>> candidates,
      TuningTarget target,
      TuningLog log) {
    this.communicator = communicator;
    this.parameters = List.copyOf(parameters);
    this.search = new TuningSearch(this.parameters, candidates);
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
    return !chosen.isEmpty();
  }

  /// The parameters' names and the best values so far, for people.
  public String best() {
    List<String> words = new ArrayList<>();
    for (int p = 0; p < parameters.size(); p++) {
      words.add(parameters.get(p).name() + "=" + values().get(p));
    }
    return String.join(", ", words);
  }

  /// The best values so far, in the order of the parameters.
  public List<Long> values() {
    return isDone() ? chosen : search.best();
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
    double slowest = slowest(lowerQuartile());
    seen = -SKIPPED_STEPS;
    if (!warmsUp(slowest)) {
      sampled(slowest);
    }
  }

  private boolean warmsUp(double nanos) {
    if (warmUps > MOST_WARM_UPS || nanos > before * WARM) {
      warmUps = MOST_WARM_UPS + 1;
      return false;
    }
    warmUps++;
    before = nanos;
    sampleSteps = Math.clamp(SAMPLE_NANOS / Math.max(1, (long) nanos), LEAST_STEPS, MOST_STEPS);
    return true;
  }

  private void sampled(double nanos) throws InterruptedException {
    samples++;
    if (finalists.isEmpty()) {
      log.sampled(samples, search.proposal().orElseThrow(), nanos / 1e3);
      search.measured(nanos);
      if (samples >= MOST_SAMPLES) {
        search.end();
      }
      if (search.proposal().isPresent()) {
        target.apply(search.proposal().get());
        return;
      }
      finalists = search.leaders(FINALISTS);
      shortest = new double[finalists.size()];
      Arrays.fill(shortest, Double.POSITIVE_INFINITY);
    } else {
      int at = turn % finalists.size();
      log.sampled(samples, finalists.get(at), nanos / 1e3);
      shortest[at] = Math.min(shortest[at], nanos);
      turn++;
    }
    if (turn == ROUNDS * finalists.size()) {
      choose();
    } else {
      target.apply(finalists.get(turn % finalists.size()));
    }
  }

  private void choose() throws InterruptedException {
    int best = 0;
    for (int f = 1; f < shortest.length; f++) {
      if (shortest[f] < shortest[best]) {
        best = f;
      }
    }
    chosen = finalists.get(best);
    target.apply(chosen);
  }

  private long lowerQuartile() {
    long[] sorted = Arrays.copyOf(steps, sampleSteps);
    Arrays.sort(sorted);
    return sorted[sampleSteps / 4];
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
