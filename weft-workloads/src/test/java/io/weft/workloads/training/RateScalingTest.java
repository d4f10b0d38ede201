// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.dataparallel.rate.LearningRateWarmup;
import io.weft.workloads.batch.Columns;
import io.weft.workloads.data.Examples;
import io.weft.workloads.model.Evaluation;
import io.weft.workloads.training.RateScaling.Length;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(120)
class RateScalingTest {

  /// 20 steps in each of 4 epochs.
  private static final TrainingSettings SETTINGS = Runs.settings(4);

  @Test
  void theRateOfAStepIsThatOfTheWarmupTimesTheFallOfTheWholeTraining() throws Exception {
    List<Float> plain = rates(SETTINGS);
    List<Float> scaled = rates(SETTINGS.with(new RateScaling(4, new Length.Epochs(0.5))));
    assertThat(scaled).hasSize(80);
    for (int step = 0; step < 80; step++) {
      float factor = step < 10 ? 1 + 3 * step / 10f : 4;
      assertThat(scaled.get(step)).isCloseTo(factor * plain.get(step), within(1e-6f));
    }
  }

  @ParameterizedTest
  @CsvSource({"4, 20", "400, 100", "1, 5"})
  void theUsualWarmupHasFiveEpochsAndAtMostAQuarterOfTheSteps(int epochs, long steps) {
    var usual = new RateScaling(2, new Length.Usual());
    LearningRateWarmup rates = Runs.settings(epochs).with(usual).warmup(20).orElseThrow();
    assertThat(rates.steps()).isEqualTo(steps);
    assertThat(rates.at(steps)).isCloseTo(2 * SETTINGS.rate(), within(1e-9));
  }

  @Test
  void aWarmupThatIsLongerThanTheTrainingIsRefused() {
    var tooLong = SETTINGS.with(new RateScaling(2, new Length.Epochs(5)));
    assertThatThrownBy(() -> tooLong.warmup(20))
        .isInstanceOf(TrainingException.Unfit.class)
        .hasMessageContaining("over 100 steps, but the training has 80; give less than 5.0 epochs");
    var cut = new Limit(Optional.empty(), OptionalLong.of(30));
    var tooLongForItsSteps = SETTINGS.with(new RateScaling(2, new Length.Steps(31))).with(cut);
    assertThatThrownBy(() -> Runs.alone(tooLongForItsSteps))
        .isInstanceOf(TrainingException.Unfit.class)
        .hasMessageContaining("over 31 steps, but the training has 30");
  }

  @Test
  void twoRanksLearnAtTwiceTheRateAfterTheWarmup() {
    var twice =
        new TrainingSettings(
            SETTINGS.workload(),
            1,
            SETTINGS.batch(),
            2 * SETTINGS.rate(),
            SETTINGS.optimizer(),
            SETTINGS.seed(),
            SETTINGS.sync(),
            SETTINGS.read(),
            Optional.empty());
    TrainingSettings one = Runs.settings(1);
    var scaled = one.with(new RateScaling(2, new Length.Steps(0)));
    TrainingOutcome outcome = Runs.together(2, scaled).getFirst();
    assertThat(outcome.digests()).isEqualTo(Runs.together(2, twice).getFirst().digests());
    assertThat(outcome.warmup().orElseThrow().ranks()).isEqualTo(2);
    List<Double> slow = Runs.together(2, one).getFirst().losses();
    var later = one.with(new RateScaling(2, new Length.Steps(10)));
    List<Double> warmed = Runs.together(2, later).getFirst().losses();
    assertThat(warmed.subList(0, 2)).as("before a step is scaled").isEqualTo(slow.subList(0, 2));
    assertThat(warmed.get(3)).isNotEqualTo(slow.get(3));
  }

  private static List<Float> rates(TrainingSettings settings) throws InterruptedException {
    List<Float> rates = new ArrayList<>();
    new TrainingLoop(settings, "digits", new Columns(1000, 50, 1), TrainingObserver.SILENT)
        .run(new RecordingEngine(rates));
    return rates;
  }

  /// An engine that records the factor of each step.
  private record RecordingEngine(List<Float> rates) implements TrainingEngine {

    @Override
    public long parameters() {
      return 0;
    }

    @Override
    public Position restore() {
      return Position.FIRST;
    }

    @Override
    public void begin() {}

    @Override
    public boolean beginEpoch(int epoch) {
      return true;
    }

    @Override
    public Step step(int step, float rate) {
      rates.add(rate);
      return new Step(1, 1, step + 1);
    }

    @Override
    public Optional<TrainingObserver.TrainedEpoch> endEpoch() {
      return Optional.empty();
    }

    @Override
    public void save() {}

    @Override
    public void finish() {}

    @Override
    public Evaluation evaluate(Examples examples) {
      throw new IllegalStateException("nothing is evaluated here");
    }

    @Override
    public String digest() {
      return "";
    }
  }
}
