// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.rate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.dataparallel.rate.LearningRateSchedule.Change;
import io.weft.dataparallel.rate.LearningRateSchedule.Phase;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class LearningRateScheduleTest {

  @Test
  void theRateGrowsInStepsToTheBaseRateAndThenFollowsTheEpochs() {
    int ranks = 4;
    int steps = 10;
    var schedule =
        new LearningRateSchedule(
            0.8,
            steps,
            List.of(
                Phase.warmup(5, ranks, steps),
                Phase.constant(5, 30, 1),
                Phase.constant(30, 60, 0.1),
                Phase.constant(60, Phase.END, 0.01)));
    for (int step = 0; step < 50; step++) {
      // This is Horovod's definition, with the end of the step as its epoch.
      double epoch = (step + 1) / (double) steps;
      double multiplier = 1.0 / ranks * (epoch * (ranks - 1) / 5 + 1);
      assertThat(schedule.at(step)).as("step %d", step).isCloseTo(0.8 * multiplier, within(1e-15));
    }
    assertThat(schedule.at(49)).isCloseTo(0.8, within(1e-15));
    assertThat(schedule.at(50)).isEqualTo(0.8);
    assertThat(schedule.at(299)).isEqualTo(0.8);
    assertThat(schedule.at(300)).isCloseTo(0.08, within(1e-15));
    assertThat(schedule.at(600)).isCloseTo(0.008, within(1e-15));
    assertThat(schedule.at(1L << 60)).isCloseTo(0.008, within(1e-15));
  }

  @Test
  void aStaircaseChangesWithTheEpochAndASmoothPhaseWithTheStep() {
    var stairs = List.of(new Phase(1, 4, Change.STAIRCASE, epoch -> Math.pow(0.5, epoch)));
    var schedule = new LearningRateSchedule(1, 2, stairs);
    double[] expected = {1, 1, 0.5, 0.5, 0.25, 0.25, 0.125, 0.125, 0.125, 0.125};
    for (int step = 0; step < expected.length; step++) {
      assertThat(schedule.at(step)).as("step %d", step).isEqualTo(expected[step]);
    }
    var smooth = List.of(new Phase(0, 2, Change.SMOOTH, epoch -> 1 - epoch / 4));
    var falling = new LearningRateSchedule(1, 2, smooth);
    double[] fallen = {1, 0.875, 0.75, 0.625, 0.625, 0.625};
    for (int step = 0; step < fallen.length; step++) {
      assertThat(falling.at(step)).as("step %d", step).isEqualTo(fallen[step]);
    }
  }

  @Test
  void momentumIsCorrectedInStepsThatChangeTheRate() {
    var schedule =
        new LearningRateSchedule(
            1, 2, List.of(Phase.constant(0, 1, 1), Phase.constant(1, 3, 0.1), zero()));
    double[] expected = {1, 1, 0.1, 1, 1, 1, 1, 1};
    for (int step = 0; step < expected.length; step++) {
      assertThat(schedule.momentumFactor(step)).as("step %d", step).isEqualTo(expected[step]);
    }
    // With momentum correction, rate * v equals a velocity that includes the rate.
    double velocity = 0;
    double holding = 0;
    for (int step = 0; step < 6; step++) {
      double gradient = step + 1;
      velocity = 0.9 * velocity / schedule.momentumFactor(step) + gradient;
      holding = 0.9 * holding + schedule.at(step) * gradient;
      assertThat(schedule.at(step) * velocity)
          .as("step %d", step)
          .isCloseTo(holding, within(1e-12));
    }
  }

  private static Phase zero() {
    return Phase.constant(3, Phase.END, 0);
  }

  @ParameterizedTest
  @ValueSource(doubles = {0, -0.0, -1, Double.NaN, Double.POSITIVE_INFINITY, 1e-300, 1e39})
  void invalidBaseRatesAreRefused(double rate) {
    assertThatThrownBy(() -> new LearningRateSchedule(rate, 1, List.of()))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("got " + rate);
  }

  @Test
  void invalidStepsEpochsAndMultipliersAreRefused() {
    assertThatThrownBy(() -> new LearningRateSchedule(1, 0, List.of()))
        .hasMessageContaining("got 0 steps");
    assertThatThrownBy(() -> Phase.constant(3, 3, 1)).hasMessageContaining("epochs 3 to 3");
    assertThatThrownBy(() -> Phase.constant(-1, 3, 1)).hasMessageContaining("epochs -1 to 3");
    assertThatThrownBy(() -> Phase.warmup(0, 1, 1)).hasMessageContaining("0 epochs");
    var overlapping = List.of(Phase.constant(0, 3, 1), Phase.constant(2, 4, 1));
    assertThatThrownBy(() -> new LearningRateSchedule(1, 1, overlapping))
        .hasMessageContaining("begins at epoch 2, and the one before ends at 3");
    var schedule = new LearningRateSchedule(1, 1, List.of());
    assertThat(schedule.at(0)).isEqualTo(1);
    assertThatThrownBy(() -> schedule.at(-1)).hasMessageContaining("got step -1");
    for (double multiplier : new double[] {-1, Double.NaN, 1e300, Double.POSITIVE_INFINITY}) {
      var wrong = new LearningRateSchedule(1, 1, List.of(Phase.constant(0, Phase.END, multiplier)));
      assertThatThrownBy(() -> wrong.at(0))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("the multiplier of epoch 0.0 is " + multiplier);
    }
  }
}
