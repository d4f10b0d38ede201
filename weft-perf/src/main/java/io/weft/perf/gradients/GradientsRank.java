// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.gradients;

import static io.weft.collective.CollectiveOptions.named;

import io.weft.Weft;
import io.weft.agent.Ticker;
import io.weft.comm.Handle;
import io.weft.dataparallel.Reducer;
import io.weft.dataparallel.tune.Autotuner;
import io.weft.dataparallel.tune.TunedSizes;
import io.weft.gradient.GradientReducer;
import io.weft.perf.gradients.GradientModel.ModelGradient;
import io.weft.perf.rank.RankMaximum;
import io.weft.perf.rank.RankProgram;
import io.weft.perf.rank.Tiles;
import io.weft.perf.rank.WarmUp;
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
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/// The program of one rank that replays the gradients of a model. It waits for the computing time
/// of each gradient, as a processor does while an accelerator computes. It submits the gradient and
/// awaits all averages at the end of the step. Rank 0 prints the lines that `GradientsReport`
/// reads.
public final class GradientsRank {

  private static final List<Long> SMALLEST = List.of(4096L, 16_384L, 2L);

  private static final String MEASURING = "gradients/begin";

  private static final long WARM_UP_NANOS = 1_000_000_000;
  private static final long LONGEST_WARM_UP_NANOS = 10_000_000_000L;

  private final Weft weft;
  private final GradientsPlan plan;
  private final GradientModel model;
  private final PrintStream out;
  private final Tiles tiles;
  private final List<TensorView> tensors = new ArrayList<>();
  private long step;

  private GradientsRank(Weft weft, GradientsPlan plan, PrintStream out, Arena arena) {
    this.weft = weft;
    this.plan = plan;
    this.model = plan.gradients();
    this.out = out;
    // The average of scales 2, 4, ... 2n is n + 1.
    this.tiles = new Tiles(arena, 2 * weft.size());
  }

  /// Takes the plan's arguments. Exits with 0, with 1 if the job failed, with 2 for wrong
  /// arguments.
  public static void main(String[] words) {
    RankProgram program = GradientsRank::measure;
    System.exit(program.run(words, System.out, System.err));
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
    var timeline = new Timeline(Ticker.SYSTEM, weft.config().required(TimelineConfig.EVENTS));
    timeline.stop();
    try (var reducers = new Reducers(weft, timeline)) {
      switch (plan.purpose()) {
        case COMPARE -> compare(reducers);
        case TUNE -> tune(new TunedSizes(reducers.of(true), reducers.of(false)));
        case RECORD -> record(reducers.of(plan.fusion().getFirst()), timeline);
      }
    }
    say("done");
  }

  private void compare(Reducers reducers) throws InterruptedException {
    for (boolean fused : plan.fusion()) {
      warmUp(reducers.of(fused));
    }
    for (int turn = 0; turn < GradientsPlan.TURNS; turn++) {
      for (boolean fused : plan.fusion()) {
        long[] nanos = new long[plan.steps()];
        boolean right = time(reducers.of(fused), nanos);
        say(GradientsReport.line(fused, right, nanos));
      }
    }
    for (boolean fused : plan.fusion()) {
      say(GradientsReport.line(fused, traffic(reducers.of(fused))));
    }
  }

  /// Counts traffic in untimed steps because counting takes time.
  private StepTraffic traffic(Reducer reducer) throws InterruptedException {
    var counter = new StepTraffic.Counter(MEASURING);
    weft.observe(counter);
    try {
      long bytes = weft.bytesSent() + weft.bytesMapped();
      for (int s = 0; s < plan.steps(); s++) {
        replay(reducer);
      }
      var unused = weft.communicator().barrier(named(MEASURING)).await();
      bytes = weft.bytesSent() + weft.bytesMapped() - bytes;
      return new StepTraffic(
          (double) bytes / plan.steps(), (double) counter.count() / plan.steps());
    } finally {
      weft.unobserve(counter);
    }
  }

  /// Runs the plan's number of warm-up steps, repeatedly until the compilers are idle if steps are
  /// short.
  private void warmUp(Reducer reducer) throws InterruptedException {
    new WarmUp(weft.communicator(), () -> time(reducer, new long[plan.warmUp()]))
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
      say(GradientsReport.line(recording, right, nanos));
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
    say("start " + median(sizes));
    long begin = System.nanoTime();
    var tuner =
        new Autotuner(
            weft.communicator(),
            sizes.parameters(Set.of()),
            TunedSizes.candidates(),
            sizes::apply,
            (sample, values, micros) -> say("sample " + sample + " " + words(values) + micros));
    while (!tuner.isDone()) {
      long[] one = new long[1];
      time(sizes, one);
      tuner.stepEnded(one[0]);
    }
    long seconds = (System.nanoTime() - begin) / 1_000_000_000;
    say("tuned " + seconds + " " + words(tuner.values()) + median(sizes));
    for (long threshold : sizes.parameters(Set.of()).getFirst().values()) {
      sizes.apply(List.of(threshold, 0L, 0L));
      say("hand " + threshold + " " + median(sizes));
    }
  }

  private static String words(List<Long> values) {
    return values.stream().map(String::valueOf).collect(Collectors.joining(" ", "", " "));
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

  private void say(String line) {
    if (weft.rank() == 0) {
      out.println(line);
      out.flush();
    }
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
    RankMaximum.largest(weft.communicator(), all);
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
