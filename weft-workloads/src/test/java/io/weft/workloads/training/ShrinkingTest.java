// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// Checks that the other ranks continue when ranks end in the middle of training.
@Timeout(180)
class ShrinkingTest {

  private static final int STEPS = 20;

  /// Ends its rank after a step by an unexpected exception.
  private record Deserter(long afterStep, List<Shrink> seen) implements TrainingObserver {

    private static final class Deserted extends RuntimeException {
      private static final long serialVersionUID = 1L;
    }

    @Override
    public void onStart(Start start) {}

    @Override
    public void onStep(TrainedStep step) {
      if ((step.epoch() - 1) * STEPS + step.step() == afterStep) {
        throw new Deserted();
      }
    }

    @Override
    public void onEpoch(TrainedEpoch epoch) {}

    @Override
    public void onUnsaved(String why) {
      throw new AssertionError(why);
    }

    @Override
    public void onShrink(Shrink shrink, String why) {
      assertThat(why).isNotBlank();
      seen.add(shrink);
    }
  }

  /// Trains with ranks that end after these steps (0 = never) and returns the others' outcomes.
  private static List<TrainingOutcome> train(TrainingSettings settings, long... ends) {
    List<Optional<TrainingOutcome>> all =
        Runs.goingOn(
            ends.length,
            job -> {
              var observer = new Deserter(ends[job.rank()], new ArrayList<>());
              try {
                TrainingOutcome outcome = new Trainer(settings, Runs.DIGITS, job, observer).run();
                assertThat(observer.seen()).isEqualTo(outcome.shrinks());
                return Optional.of(outcome);
              } catch (Deserter.Deserted ended) {
                return Optional.<TrainingOutcome>empty();
              }
            });
    return all.stream().flatMap(Optional::stream).toList();
  }

  private static TrainingSettings settings(Sync sync, ReadMode read) {
    return Runs.with(Runs.settings(3), sync, read, Optional.empty());
  }

  @ParameterizedTest
  @CsvSource({"0, 7", "1, 20", "2, 41"})
  void theOtherRanksContinueFromTheLastStep(int lost, long step) {
    long[] ends = new long[3];
    ends[lost] = step;
    TrainingOutcome undisturbed = Runs.alone(settings(new Sync.Gradients(), ReadMode.SHARDED));
    List<TrainingOutcome> outcomes = train(settings(new Sync.Gradients(), ReadMode.SHARDED), ends);
    assertThat(outcomes).hasSize(2);
    for (TrainingOutcome outcome : outcomes) {
      assertThat(outcome.digests()).hasSize(2).containsOnly(outcomes.getFirst().digests().get(0));
      assertThat(outcome.accuracies()).hasSize(3);
      Shrink shrink = outcome.shrinks().getFirst();
      assertThat(outcome.shrinks()).hasSize(1);
      assertThat(shrink.lost()).containsExactly(lost);
      assertThat(shrink.survivors()).isEqualTo(2);
      assertThat(shrink.epoch()).isEqualTo(1);
      assertThat(shrink.step()).isEqualTo(step);
      // The batches and their order are unchanged, so no example was omitted or repeated.
      assertThat(outcome.losses()).hasSize(3 * STEPS);
      for (int s = 0; s < 3 * STEPS; s++) {
        double tolerance = s / STEPS == (step - 1) / STEPS && s < step ? 0.5 : 1e-3;
        assertThat(outcome.losses().get(s))
            .as("loss of global batch %d", s)
            .isCloseTo(undisturbed.losses().get(s), within(tolerance));
      }
    }
  }

  @Test
  void twoLossesLeaveTwoRanksOfFour() {
    List<TrainingOutcome> outcomes =
        train(settings(new Sync.Gradients(), ReadMode.ROOT), 26, 0, 3, 0);
    assertThat(outcomes).hasSize(2);
    for (TrainingOutcome outcome : outcomes) {
      assertThat(outcome.digests()).hasSize(2).containsOnly(outcomes.getFirst().digests().get(0));
      assertThat(outcome.shrinks().stream().map(Shrink::lost))
          .containsExactly(List.of(2), List.of(0));
      assertThat(outcome.losses()).hasSize(3 * STEPS);
    }
  }

  @ParameterizedTest
  @CsvSource({"0, 9", "2, 20"})
  void separatelyTrainedModelsContinue(int lost, long step) {
    long[] ends = new long[3];
    ends[lost] = step;
    List<TrainingOutcome> outcomes = train(settings(new Sync.Weights(7), ReadMode.SHARDED), ends);
    assertThat(outcomes).hasSize(2);
    for (TrainingOutcome outcome : outcomes) {
      assertThat(outcome.digests()).hasSize(2).containsOnly(outcomes.getFirst().digests().get(0));
      assertThat(outcome.losses()).hasSize(3 * STEPS);
      assertThat(outcome.losses().getLast()).isLessThan(0.7 * outcome.losses().getFirst());
      assertThat(outcome.shrinks()).hasSize(1);
    }
  }
}
