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

/// A tuner that changes sizes while a job trains, and keeps the sizes with the shortest step of the
/// slowest rank. All ranks must create it with equal parameters and call `stepEnded` after each
/// step. They agree on each sample by one short allreduce, so that all change at the same step. One
/// thread.
///
/// A sample is the lower quartile of at least five steps that take about 0.3 s together, so that
/// steps disturbed by other processes do not count. The first two steps after a change do not count
/// either. The first point is measured repeatedly until it becomes no faster, because code is still
/// being compiled. When the search ends, or after 60 samples, its best four points are measured
/// three more times, in turn. The point with the shortest sample is kept.
public final class Autotuner {

  /// The column names of a CSV log for the parameters of `TunedSizes`.
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

  /// Creates a tuner of `target`, which must have the parameters' start values.
  ///
  /// @param log receives each sample; may differ between ranks
  public Autotuner(
      Communicator communicator,
      List<TunedParameter> parameters,
      TuningTarget target,
      TuningLog log) {
    this(communicator, parameters, List.of(), target, log);
  }

  /// Creates a tuner that begins with points that are good in general.
  ///
  /// @param candidates values in the order of the parameters, equal on all ranks
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

  /// The receiver of new values. All ranks apply the same values at the same step, while no
  /// operation is in flight.
  @FunctionalInterface
  public interface TuningTarget {

    /// Applies these values, which are in the order of the parameters.
    void apply(List<Long> values) throws InterruptedException;
  }

  /// The receiver of samples.
  @FunctionalInterface
  public interface TuningLog {

    /// @param sample number of the sample, from 1
    /// @param values values in the order of the parameters
    /// @param micros time of a step of the slowest rank
    void sampled(int sample, List<Long> values, double micros);
  }

  /// Returns true if the search has ended and the best values are applied.
  public boolean isDone() {
    return !chosen.isEmpty();
  }

  /// Returns the parameters' names and the present best values, in words.
  public String best() {
    List<String> words = new ArrayList<>();
    for (int p = 0; p < parameters.size(); p++) {
      words.add(parameters.get(p).name() + "=" + values().get(p));
    }
    return String.join(", ", words);
  }

  /// Returns the present best values, in the order of the parameters.
  public List<Long> values() {
    return isDone() ? chosen : search.best();
  }

  /// Records the time of a step of this rank. At the end of a sample, it waits for the other ranks.
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
