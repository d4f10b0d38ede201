// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.dataparallel.local.LocalSgdOptions;
import io.weft.dataparallel.local.OuterOptimizer;
import io.weft.workloads.data.DataException;
import io.weft.workloads.data.MnistFiles;
import io.weft.workloads.digits.SyntheticDigits;
import io.weft.workloads.model.OptimizerKind;
import io.weft.workloads.model.Workload;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(120)
class TrainerTest {

  @ParameterizedTest
  @EnumSource(OptimizerKind.class)
  void theLossFallsWithEveryOptimizer(OptimizerKind optimizer) {
    float rate = Workload.MNIST_DNN.defaultRate(optimizer);
    TrainingSettings settings =
        new TrainingSettings(
            Workload.MNIST_DNN,
            4,
            50,
            rate,
            optimizer,
            7,
            new Sync.Gradients(),
            ReadMode.SHARDED,
            Optional.empty());
    TrainingOutcome outcome = Runs.alone(settings);
    assertThat(outcome.losses()).hasSize(80);
    assertThat(outcome.losses().getLast()).isLessThan(0.6 * outcome.losses().getFirst());
    assertThat(outcome.accuracies()).hasSize(4);
    assertThat(outcome.timing().stepNanos()).hasSize(80);
    assertThat(outcome.timing().communicationSeconds()).isZero();
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void severalRanksTrainTheModelThatOneRankTrains(int ranks) {
    TrainingOutcome alone = Runs.alone(Runs.settings(1));
    List<TrainingOutcome> together = Runs.together(ranks, Runs.settings(1));
    for (TrainingOutcome outcome : together) {
      assertThat(outcome.losses()).isEqualTo(together.getFirst().losses());
      assertThat(outcome.digests()).hasSize(ranks).containsOnly(outcome.digests().getFirst());
      assertThat(outcome.traffic().bytesSent()).isPositive();
    }
    for (int s = 0; s < alone.losses().size(); s++) {
      assertThat(together.getFirst().losses().get(s))
          .as("loss of global batch %d", s)
          .isCloseTo(alone.losses().get(s), within(1e-3));
    }
    assertThat(together.getFirst().accuracies().getFirst())
        .isCloseTo(alone.accuracies().getFirst(), within(0.011));
  }

  @Test
  void theSameSeedGivesTheSameBits() {
    List<TrainingOutcome> first = Runs.together(2, Runs.settings(1));
    List<TrainingOutcome> second = Runs.together(2, Runs.settings(1));
    assertThat(second.getFirst().digests()).isEqualTo(first.getFirst().digests());
  }

  @Test
  void rankZeroSendsTheDataThatOtherRanksWouldRead() {
    TrainingSettings sharded = Runs.settings(1);
    TrainingSettings root = Runs.with(sharded, sharded.sync(), ReadMode.ROOT, Optional.empty());
    assertThat(Runs.together(3, root).getFirst().digests())
        .isEqualTo(Runs.together(3, sharded).getFirst().digests());
  }

  @Test
  void dataThatRankZeroCannotReadEndsAllRanks() {
    TrainingSettings root =
        Runs.with(Runs.settings(1), new Sync.Gradients(), ReadMode.ROOT, Optional.empty());
    var broken = new MnistFiles(Path.of("no", "such", "directory"));
    List<String> messages =
        Runs.onAll(
            2,
            job -> {
              try {
                return new Trainer(root, broken, job, TrainingObserver.SILENT).run().toString();
              } catch (DataException e) {
                return String.valueOf(e.getMessage());
              }
            });
    assertThat(messages.get(0)).contains("no directory no/such/directory");
    assertThat(messages.get(1)).contains("rank 0 could not read the data");
  }

  @Test
  void separatelyTrainedModelsAreEqualAfterAveraging() {
    TrainingSettings apart =
        Runs.with(Runs.settings(3), new Sync.Weights(7), ReadMode.SHARDED, Optional.empty());
    List<TrainingOutcome> outcomes = Runs.together(2, apart);
    TrainingOutcome outcome = outcomes.getFirst();
    assertThat(outcome.digests()).containsOnly(outcome.digests().getFirst());
    assertThat(outcome.losses().getLast()).isLessThan(0.6 * outcome.losses().getFirst());
    assertThat(outcome.digests())
        .isNotEqualTo(Runs.together(2, Runs.settings(3)).getFirst().digests());
  }

  @ParameterizedTest
  @CsvSource({"7, 1, 1, 32", "8, 3, 2, 8", "4, 1, 0, 4"})
  void localSgdLearnsAndEndsWithTheSameWeights(int every, int fragments, int delay, int bits) {
    var options = new LocalSgdOptions(every, fragments, delay, bits, OuterOptimizer.NESTEROV);
    TrainingSettings apart =
        Runs.with(Runs.settings(3), new Sync.Local(options), ReadMode.SHARDED, Optional.empty());
    List<TrainingOutcome> outcomes = Runs.together(2, apart);
    TrainingOutcome outcome = outcomes.getFirst();
    assertThat(outcome.digests()).hasSize(2).containsOnly(outcome.digests().getFirst());
    assertThat(outcome.losses().getLast()).isLessThan(0.6 * outcome.losses().getFirst());
    assertThat(outcome.outerSteps().orElseThrow()).isBetween(60L / every, 60L / every + 3);
    TrainingOutcome synchronous = Runs.together(2, Runs.settings(3)).getFirst();
    assertThat(synchronous.outerSteps()).isEmpty();
  }

  @Test
  void theSharesAddUpToTheTimeOfTheSteps() {
    Timing timing = Runs.together(2, Runs.settings(1)).getFirst().timing();
    double steps = 0;
    for (long nanos : timing.stepNanos()) {
      steps += nanos / 1e9;
    }
    double shares = timing.computeSeconds() + timing.communicationSeconds() + timing.waitSeconds();
    assertThat(shares).isCloseTo(steps, within(0.3 * steps));
    assertThat(timing.inFlightSeconds()).isPositive();
  }

  @Test
  void allRanksEndWithTheEpochInWhichTheLimitPasses() {
    List<TrainingOutcome> outcomes =
        Runs.together(2, Runs.settings(1_000_000).with(Duration.ofMillis(1)));
    assertThat(outcomes)
        .allSatisfy(outcome -> assertThat(outcome.accuracies()).hasSize(1))
        .allSatisfy(outcome -> assertThat(outcome.losses()).hasSize(20));
  }

  @Test
  void trainingEndsAfterTheGivenSteps() {
    Limit steps = new Limit(Optional.empty(), OptionalLong.of(27));
    List<TrainingOutcome> outcomes = Runs.together(2, Runs.settings(1_000_000).with(steps));
    TrainingOutcome alone = Runs.alone(Runs.settings(2));
    assertThat(outcomes)
        .allSatisfy(outcome -> assertThat(outcome.accuracies()).hasSize(2))
        .allSatisfy(outcome -> assertThat(outcome.losses()).hasSize(27));
    TrainingCost cost = outcomes.getFirst().cost().orElseThrow();
    assertThat(cost.steps()).isEqualTo(27);
    assertThat(cost.elapsedSeconds()).isPositive();
    assertThat(cost.cpuSeconds()).isPositive();
    assertThat(outcomes.getFirst().losses().getFirst())
        .isCloseTo(alone.losses().getFirst(), within(1e-3));
  }

  @Test
  void aBatchMustSufficeForTheRanksAndTheData() {
    TrainingSettings s = Runs.settings(1);
    TrainingSettings big =
        new TrainingSettings(
            s.workload(),
            1,
            1001,
            s.rate(),
            s.optimizer(),
            1,
            s.sync(),
            s.read(),
            Optional.empty());
    assertThatThrownBy(() -> Runs.alone(big))
        .isInstanceOf(TrainingException.Unfit.class)
        .hasMessageContaining("--batch 1001")
        .hasMessageContaining("1000 examples");
    TrainingSettings small =
        new TrainingSettings(
            s.workload(), 1, 1, s.rate(), s.optimizer(), 1, s.sync(), s.read(), Optional.empty());
    assertThatThrownBy(() -> Runs.together(2, small))
        .isInstanceOf(TrainingException.Unfit.class)
        .hasMessageContaining("at least 2");
  }

  @Test
  void aLossThatIsNotANumberEndsTraining() {
    TrainingSettings s = Runs.settings(2);
    TrainingSettings wild =
        new TrainingSettings(
            s.workload(), 2, 50, 1000f, s.optimizer(), 1, s.sync(), s.read(), Optional.empty());
    assertThatThrownBy(() -> Runs.alone(wild))
        .isInstanceOf(TrainingException.Diverged.class)
        .hasMessageContaining("smaller --lr than 1000.0");
  }

  @Test
  void dataOfAnotherLengthIsNamedWithBothRanks() {
    List<String> messages =
        Runs.onAll(
            2,
            job -> {
              var source = new SyntheticDigits(1, 1000 - 100 * job.rank(), 201);
              try {
                return new Trainer(Runs.settings(1), source, job, TrainingObserver.SILENT)
                    .run()
                    .toString();
              } catch (TrainingException.Unfit e) {
                return String.valueOf(e.getMessage());
              }
            });
    assertThat(messages)
        .allSatisfy(
            message ->
                assertThat(message)
                    .contains("rank 0 has read 1000 examples of 784 values")
                    .contains("rank 1 900 examples"));
  }
}
