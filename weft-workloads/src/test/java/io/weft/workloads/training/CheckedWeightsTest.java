// SPDX-License-Identifier: Apache-2.0
package io.weft.workloads.training;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.dataparallel.sentinel.DivergencePolicy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class CheckedWeightsTest {

  private static TrainingSettings settings(DivergencePolicy policy) {
    return Runs.settings(1).with(new WeightCheck(3, policy));
  }

  private record Recording(List<String> heard) implements TrainingObserver {
    @Override
    public void onStart(Start start) {}

    @Override
    public void onStep(TrainedStep step) {}

    @Override
    public void onEpoch(TrainedEpoch epoch) {}

    @Override
    public void onShrink(Shrink shrink, String why) {}

    @Override
    public void onUnsaved(String why) {}

    @Override
    public void onDivergence(String what) {
      heard.add(what);
    }
  }

  /// Runs seven steps that change only a bit on rank 1 in the fourth step, and returns the digest.
  private static String steps(TrainingJob job, DivergencePolicy policy, List<String> heard) {
    TrainingSettings settings = settings(policy);
    DataShard shard = DataShard.read(settings, Runs.DIGITS, job, RankExchange.of(job));
    try (SessionModel engine = SessionModel.start(settings, shard.train(), job)) {
      var checked =
          new CheckedWeights(settings.check().orElseThrow(), job.communicator(), engine, 100);
      for (int step = 1; step <= 7; step++) {
        if (step == 4 && job.rank() == 1) {
          flipBit(engine);
        }
        checked.step(new Recording(heard));
      }
      return engine.digest();
    }
  }

  private static void flipBit(SessionModel engine) {
    List<ModelState.Slot> weights = engine.weights();
    engine.state().fetch(engine.session(), weights);
    var data = weights.get(1).copy().data();
    data.setAtIndex(JAVA_INT, 5, data.getAtIndex(JAVA_INT, 5) ^ 1 << 9);
    engine.state().assign(engine.session(), weights);
  }

  @Test
  void aFlippedBitIsNamedAndHealed() {
    List<List<String>> heard = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    List<String> digests =
        Runs.onAll(3, job -> steps(job, DivergencePolicy.HEAL, heard.get(job.rank())));
    assertThat(digests).containsOnly(digests.getFirst());
    for (List<String> lines : heard) {
      assertThat(lines).hasSize(1);
      assertThat(lines.getFirst())
          .contains("since a step from 104 to 106")
          .contains("' on rank 1")
          .endsWith("; healed");
    }
  }

  @Test
  void aFlippedBitEndsTrainingUnderTheStopPolicy() {
    Runs.onAll(
        3,
        job -> {
          assertThatThrownBy(() -> steps(job, DivergencePolicy.STOP, new ArrayList<>()))
              .isInstanceOf(TrainingException.Diverged.class)
              .hasMessageContaining("since a step from 104 to 106")
              .hasMessageContaining("' on rank 1");
          return true;
        });
  }

  @Test
  void aWarningDoesNotChangeTheWeights() {
    List<List<String>> heard = List.of(new ArrayList<>(), new ArrayList<>(), new ArrayList<>());
    List<String> digests =
        Runs.onAll(3, job -> steps(job, DivergencePolicy.WARN, heard.get(job.rank())));
    assertThat(digests.get(1)).isNotEqualTo(digests.get(0));
    assertThat(digests.get(2)).isEqualTo(digests.get(0));
    assertThat(heard.getFirst()).hasSize(1);
  }

  @Test
  void synchronousTrainingHasNoDivergence() {
    var heard = new ArrayList<String>();
    List<TrainingOutcome> outcomes =
        Runs.together(2, settings(DivergencePolicy.STOP), new Recording(heard));
    assertThat(outcomes.getFirst().digests())
        .isEqualTo(Runs.together(2, Runs.settings(1)).getFirst().digests());
    assertThat(heard).isEmpty();
  }
}
