// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import static io.weft.collective.CollectiveOptions.named;

import io.weft.Weft;
import io.weft.agent.Ticker;
import io.weft.comm.Handle;
import io.weft.dataparallel.DataParallel;
import io.weft.dataparallel.DataParallelOptions;
import io.weft.dataparallel.Fusion;
import io.weft.dataparallel.Reducer;
import io.weft.dataparallel.tune.Autotuner;
import io.weft.dataparallel.tune.TunedSizes;
import io.weft.gradient.GradientReducer;
import io.weft.observer.ObservedOperation;
import io.weft.observer.OperationObserver;
import io.weft.perf.gradients.GradientModel.ModelGradient;
import io.weft.perf.rank.RankGroup;
import io.weft.perf.rank.RankProgram;
import io.weft.perf.rank.Tiles;
import io.weft.perf.rank.WarmUp;
import io.weft.perf.report.RankPrinter;
import io.weft.telemetry.timeline.Timeline;
import io.weft.telemetry.timeline.TimelineConfig;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorLease;
import io.weft.tensor.TensorView;
import io.weft.transport.limit.ClampedDuration;
import java.io.PrintStream;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.stream.Collectors;

/// The program of one rank that replays the gradients of a model. It waits for the computing time
/// of each gradient, as a processor does while an accelerator computes. It submits the gradient and
/// awaits all averages at the end of the step. Rank 0 prints the report.
public final class GradientsRank {

  private static final List<Long> SMALLEST = List.of(4096L, 16_384L, 2L);

  private static final String MEASURING = "gradients/begin";

  private static final long WARM_UP_NANOS = 1_000_000_000;
  private static final long LONGEST_WARM_UP_NANOS = 10_000_000_000L;

  private final Weft weft;
  private final GradientsPlan plan;
  private final GradientModel model;
  private final RankPrinter printer;
  private final Tiles tiles;
  private final List<TensorView> tensors = new ArrayList<>();
  private long step;

  private GradientsRank(Weft weft, GradientsPlan plan, PrintStream out, Arena arena) {
    this.weft = weft;
    this.plan = plan;
    this.model = plan.gradients();
    this.printer = new RankPrinter(out, weft.rank());
    // The average of scales 2, 4, ... 2n is n + 1.
    this.tiles = new Tiles(arena, 2 * weft.size());
  }

  /// Takes the plan's arguments. Exits with 0, with 1 if the job failed, with 2 for wrong
  /// arguments.
  public static void main(String[] words) {
    RankProgram.exit(words, GradientsRank::measure);
  }

  private static void measure(List<String> words, PrintStream out, PrintStream err)
      throws InterruptedException {
    GradientsPlan plan = GradientsPlan.parse(words);
    List<TensorLease> leases = new ArrayList<>();
    try (Arena arena = Arena.ofShared();
        Weft weft = Weft.init()) {
      var rank = new GradientsRank(weft, plan, out, arena);
      for (ModelGradient gradient : rank.model.gradients()) {
        TensorLease lease = weft.allocate(DType.FLOAT32, Shape.of(gradient.elements()));
        leases.add(lease);
        rank.tensors.add(lease.view());
      }
      rank.run();
    } finally {
      leases.forEach(TensorLease::close);
    }
  }

  private void run() throws InterruptedException {
    printer.peer("weft");
    var timeline = new Timeline(Ticker.SYSTEM, weft.config().required(TimelineConfig.EVENTS));
    timeline.stop();
    DataParallelOptions options = DataParallelOptions.of(weft.config());
    try (var fused = DataParallel.open(weft, options.with(Fusion.ON), timeline);
        var single = DataParallel.open(weft, options.with(Fusion.OFF), timeline)) {
      Function<Boolean, Reducer> reducers =
          isFused -> (isFused ? fused : single).reducer(weft.communicator());
      switch (plan.purpose()) {
        case COMPARE -> compare(plan.fusion().stream().map(reducers).toList());
        case TUNE -> tune(new TunedSizes(reducers.apply(true), reducers.apply(false)));
        case RECORD -> record(reducers.apply(plan.fusion().getFirst()), timeline);
      }
    }
    printer.done();
  }

  private void compare(List<Reducer> reducers) throws InterruptedException {
    for (Reducer reducer : reducers) {
      warmUp(reducer);
    }
    for (int turn = 0; turn < GradientsPlan.TURNS; turn++) {
      for (int i = 0; i < reducers.size(); i++) {
        long[] nanos = new long[plan.steps()];
        boolean right = time(reducers.get(i), nanos);
        printer.times(GradientsPlan.word(plan.fusion().get(i)), right, nanos);
      }
    }
    for (int i = 0; i < reducers.size(); i++) {
      printer.times(GradientsPlan.word(plan.fusion().get(i)), true);
      traffic(reducers.get(i));
    }
  }

  /// Counts and prints the mean traffic of a step, in untimed steps because counting takes time.
  private void traffic(Reducer reducer) throws InterruptedException {
    var counter = new Counter();
    weft.observe(counter);
    try {
      long bytes = weft.bytesSent() + weft.bytesMapped();
      for (int s = 0; s < plan.steps(); s++) {
        replay(reducer);
      }
      var unused = weft.communicator().barrier(named(MEASURING)).await();
      bytes = weft.bytesSent() + weft.bytesMapped() - bytes;
      printer.figure("bytesPerStep", (double) bytes / plan.steps());
      printer.figure("collectivesPerStep", (double) counter.submitted.sum() / plan.steps());
    } finally {
      weft.unobserve(counter);
    }
  }

  /// The counter of all collectives except those of the measurement: with fusion those of buffers
  /// and of negotiation.
  private static final class Counter implements OperationObserver {
    private final LongAdder submitted = new LongAdder();

    @Override
    public boolean hearsStages() {
      return false;
    }

    @Override
    public void submitted(ObservedOperation operation) {
      if (operation.service() == ObservedOperation.Service.COLLECTIVE
          && !operation.name().startsWith(MEASURING)) {
        submitted.increment();
      }
    }
  }

  /// Runs the plan's number of warm-up steps, repeatedly until the compilers are idle if steps are
  /// short.
  private void warmUp(Reducer reducer) throws InterruptedException {
    new WarmUp(RankGroup.of(weft.communicator()), () -> time(reducer, new long[plan.warmUp()]))
        .run(WARM_UP_NANOS, LONGEST_WARM_UP_NANOS);
  }

  /// Times steps without and with recording in turns. The order alternates from pair to pair of
  /// turns.
  private void record(Reducer reducer, Timeline timeline) throws InterruptedException {
    warmUp(reducer);
    recorded(true, reducer, timeline, new long[plan.warmUp()]);
    for (int turn = 0; turn < 2 * GradientsPlan.TURNS; turn++) {
      boolean recording = (turn & 1) != (turn >> 1 & 1);
      long[] nanos = new long[plan.steps()];
      boolean right = recorded(recording, reducer, timeline, nanos);
      printer.times(GradientsPlan.word(recording), right, nanos);
    }
  }

  private boolean recorded(boolean recording, Reducer reducer, Timeline timeline, long[] nanos)
      throws InterruptedException {
    if (!recording) {
      return time(reducer, nanos);
    }
    weft.observe(timeline);
    timeline.start();
    try {
      return time(reducer, nanos);
    } finally {
      timeline.stop();
      weft.unobserve(timeline);
    }
  }

  /// Starts the autotuner at the smallest sizes. Afterwards measures each fusion threshold in its
  /// range for comparison.
  private void tune(TunedSizes sizes) throws InterruptedException {
    sizes.apply(SMALLEST);
    time(sizes, new long[plan.warmUp()]);
    printer.times("start", true);
    printer.figure("micros", median(sizes));
    long begin = System.nanoTime();
    var tuner =
        new Autotuner(
            weft.communicator(),
            sizes.parameters(Set.of()),
            TunedSizes.candidates(),
            sizes::apply,
            (sample, values, micros) ->
                printer.times(sample + "," + words(values) + "," + micros, true));
    while (!tuner.isDone()) {
      long[] one = new long[1];
      time(sizes, one);
      tuner.stepEnded(one[0]);
    }
    long seconds = (System.nanoTime() - begin) / 1_000_000_000;
    List<Long> found = tuner.values();
    double micros = median(sizes);
    printer.times("tuned", true);
    printer.figure("seconds", (double) seconds);
    printer.figure("fusionThreshold", found.get(0));
    printer.figure("segmentBytes", found.get(1));
    printer.figure("window", found.get(2));
    printer.figure("micros", micros);
    for (long threshold : sizes.parameters(Set.of()).getFirst().values()) {
      sizes.apply(List.of(threshold, 0L, 0L));
      micros = median(sizes);
      printer.times("hand:" + threshold, true);
      printer.figure("threshold", (double) threshold);
      printer.figure("micros", micros);
    }
  }

  private static String words(List<Long> values) {
    return values.stream().map(String::valueOf).collect(Collectors.joining(","));
  }

  /// Returns the median time of a turn's steps, but of at least 5 steps, after two untimed ones.
  private double median(GradientReducer reducer) throws InterruptedException {
    time(reducer, new long[2]);
    long[] nanos = new long[Math.max(5, plan.steps())];
    if (!time(reducer, nanos)) {
      throw new IllegalStateException("an average is wrong");
    }
    Arrays.sort(nanos);
    return nanos[nanos.length / 2] / 1e3;
  }

  /// Fills `nanos` with the time of each step on its slowest rank. Returns whether all averages
  /// were right on all ranks.
  private boolean time(GradientReducer reducer, long[] nanos) throws InterruptedException {
    boolean wrong = false;
    for (int s = 0; s < nanos.length; s++) {
      step++;
      for (TensorView tensor : tensors) {
        tiles.fill(tensor.data(), 2 * (weft.rank() + 1), step);
      }
      var unused = weft.communicator().barrier(named(MEASURING)).await();
      nanos[s] = replay(reducer);
      for (TensorView tensor : tensors) {
        wrong |= !tiles.same(tensor.data(), 0, tensor.bytes(), weft.size() + 1, step);
      }
    }
    long[] all = new long[nanos.length + 1];
    System.arraycopy(nanos, 0, all, 0, nanos.length);
    all[nanos.length] = wrong ? 1 : 0;
    RankGroup.of(weft.communicator()).largest(all);
    System.arraycopy(all, 0, nanos, 0, nanos.length);
    return all[nanos.length] == 0;
  }

  private long replay(GradientReducer reducer) throws InterruptedException {
    List<Handle<TensorView>> handles = new ArrayList<>(tensors.size());
    long backward = ClampedDuration.nanos(model.backward());
    long begin = System.nanoTime();
    long first = begin + ClampedDuration.nanos(model.forward());
    for (int g = 0; g < tensors.size(); g++) {
      ModelGradient gradient = model.gradients().get(g);
      compute(first + Math.round(gradient.ready() * backward));
      handles.add(reducer.reduce(gradient.name(), tensors.get(g)));
    }
    for (Handle<TensorView> handle : handles) {
      var unused = handle.await();
    }
    return System.nanoTime() - begin;
  }

  private static void compute(long until) {
    for (long left = until - System.nanoTime(); left > 0; left = until - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }
}
