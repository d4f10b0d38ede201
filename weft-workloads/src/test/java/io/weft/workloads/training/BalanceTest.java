// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class BalanceTest {

  @Test
  void sharesApproachTheSpeedsOfTheRanks() {
    List<Integer> widths = List.of(64, 64);
    for (int i = 0; i < 20; i++) {
      double[] nanos = {widths.get(0) * 1e6, widths.get(1) * 3e6};
      widths = Balance.next(widths, nanos).orElse(widths);
    }
    assertThat(widths.get(0)).isCloseTo(96, within(3));
    assertThat(widths.get(0) + widths.get(1)).isEqualTo(128);
  }

  @Test
  void likeTimesChangeNothing() {
    assertThat(Balance.next(List.of(43, 42, 43), new double[] {1e6, 1.04e6, 0.98e6})).isEmpty();
  }

  @Test
  void everyRankKeepsAnExample() {
    long seed = Long.getLong("weft.seed", 11);
    var random = new Random(seed);
    for (int i = 0; i < 500; i++) {
      int ranks = 1 + random.nextInt(6);
      List<Integer> widths = new ArrayList<>();
      double[] nanos = new double[ranks];
      for (int rank = 0; rank < ranks; rank++) {
        widths.add(1 + random.nextInt(20));
        nanos[rank] = Math.exp(20 * random.nextDouble());
      }
      int batch = widths.stream().mapToInt(Integer::intValue).sum();
      Optional<List<Integer>> next = Balance.next(widths, nanos);
      assertThat(next.orElse(widths))
          .as("seed %d, shares %s", seed, widths)
          .allMatch(width -> width >= 1)
          .satisfies(all -> assertThat(all.stream().mapToInt(n -> n).sum()).isEqualTo(batch));
    }
  }

  @Test
  void aPauseOfAStepDoesNotCount() {
    long[] now = {0};
    var balance = new Balance(() -> now[0]);
    for (int step = 0; step < Balance.EVERY; step++) {
      long begun = now[0];
      now[0] += step == 7 ? 5_000_000_000L : 2_000_000;
      boolean due = balance.add(new StepMeter.MeteredStep(begun, now[0] - begun, 0, 500_000, 0));
      assertThat(due).isEqualTo(step == Balance.EVERY - 1);
    }
    assertThat(balance.take()).isEqualTo(1_500_000);
  }

  @Test
  void aSlowRankGetsLessAndTheModelIsThatOfOneRank() {
    TrainingSettings settings = Runs.settings(3);
    TrainingOutcome alone = Runs.alone(settings);
    List<TrainingOutcome> outcomes =
        Runs.onAll(
            2,
            job ->
                new Trainer(
                        settings.with(Shares.BALANCED), Runs.DIGITS, job, new SlowRank(job.rank()))
                    .run());
    TrainingOutcome balanced = outcomes.getFirst();
    assertThat(balanced.shares()).hasSize(2);
    assertThat(balanced.shares().get(1)).isLessThan(balanced.shares().get(0));
    assertThat(balanced.shares().get(0) + balanced.shares().get(1)).isEqualTo(50);
    assertThat(balanced.digests()).containsOnly(balanced.digests().getFirst());
    assertThat(balanced.losses()).hasSameSizeAs(alone.losses());
    for (int s = 0; s < alone.losses().size(); s++) {
      assertThat(balanced.losses().get(s))
          .as("loss of global batch %d", s)
          .isCloseTo(alone.losses().get(s), within(5e-3));
    }
  }

  /// An observer that takes 4 ms for each example of rank 1, and once stands still for two seconds.
  private static final class SlowRank implements TrainingObserver {

    private static final long NANOS = 4_000_000;

    private final int rank;
    private final AtomicBoolean stood = new AtomicBoolean();
    private int share = 25;

    SlowRank(int rank) {
      this.rank = rank;
    }

    @Override
    public void onBalance(long step, List<Integer> shares) {
      share = shares.get(rank);
    }

    @Override
    public void onStep(TrainedStep step) {
      if (rank == 1) {
        boolean stands = step.step() == 9 && stood.compareAndSet(false, true);
        pause(stands ? TimeUnit.SECONDS.toNanos(2) : share * NANOS);
      }
    }

    private static void pause(long nanos) {
      long end = System.nanoTime() + nanos;
      while (System.nanoTime() < end) {
        LockSupport.parkNanos(end - System.nanoTime());
      }
    }

    @Override
    public void onStart(Start start) {}

    @Override
    public void onEpoch(TrainedEpoch epoch) {}

    @Override
    public void onShrink(Shrink shrink, String why) {}

    @Override
    public void onUnsaved(String why) {}
  }
}
