// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.local;

import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.weft.Weft;
import io.weft.comm.CommException;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks local SGD on ranks that each minimize (w - c)² / 2 for every weight w, where c differs
/// between ranks and between weights.
@Timeout(60)
class LocalSgdTest {

  private static final int[] LENGTHS = {5, 700, 1, 1300, 40};

  private static SequencedMap<String, TensorView> weights(Arena arena) {
    var weights = new LinkedHashMap<String, TensorView>();
    for (int length : LENGTHS) {
      weights.put(
          "w" + weights.size(),
          new TensorView(DType.FLOAT32, Shape.of(length), arena.allocate(length * 4L, 64)));
    }
    return weights;
  }

  private static float center(int rank, int tensor, int element) {
    return (rank * 7 + tensor * 3 + element * 5) % 32 - 16;
  }

  private static void descend(SequencedMap<String, TensorView> weights, int rank, float rate) {
    int tensor = 0;
    for (TensorView weight : weights.sequencedValues()) {
      for (int i = 0; i < weight.shape().elements(); i++) {
        float before = weight.data().getAtIndex(JAVA_FLOAT, i);
        float slope = before - center(rank, tensor, i);
        weight.data().setAtIndex(JAVA_FLOAT, i, before - rate * slope);
      }
      tensor++;
    }
  }

  private static List<float[]> values(SequencedMap<String, TensorView> weights) {
    return weights.sequencedValues().stream().map(w -> w.data().toArray(JAVA_FLOAT)).toList();
  }

  private record Run(List<List<float[]>> after, long outerSteps, long payloadBytes) {}

  /// Returns the weights after each step and then after `synchronize`.
  private static Run train(Weft weft, LocalSgdOptions options, int steps)
      throws InterruptedException {
    try (Arena arena = Arena.ofShared()) {
      var weights = weights(arena);
      var local = new LocalSgd(weft.communicator(), options, weights);
      var after = new ArrayList<List<float[]>>();
      for (int step = 0; step < steps; step++) {
        descend(weights, weft.rank(), 0.5f);
        List<float[]> before = values(weights);
        boolean exchanges = local.isNextExchange();
        local.step();
        if (!exchanges) {
          assertEqual(values(weights), before);
        }
        after.add(values(weights));
      }
      local.synchronize();
      after.add(values(weights));
      return new Run(after, local.outerSteps(), local.payloadBytes());
    }
  }

  private static void assertEqual(List<float[]> some, List<float[]> others) {
    for (int tensor = 0; tensor < LENGTHS.length; tensor++) {
      assertThat(some.get(tensor)).as("tensor %d", tensor).isEqualTo(others.get(tensor));
    }
  }

  private static List<Run> together(int ranks, LocalSgdOptions options, int steps) {
    try (LocalJob job = LocalJob.over("inproc", ranks)) {
      return job.run(weft -> train(weft, options, steps));
    }
  }

  @Test
  void rateOneWithoutMomentumIsPlainAveragingBitForBit() {
    var options = LocalSgdOptions.every(2).after(0).by(OuterOptimizer.MEAN);
    List<Run> runs = together(2, options, 8);
    float[][] mine = new float[2][LENGTHS[3]];
    for (int step = 1; step <= 8; step++) {
      for (int rank = 0; rank < 2; rank++) {
        for (int i = 0; i < LENGTHS[3]; i++) {
          mine[rank][i] -= 0.5f * (mine[rank][i] - center(rank, 3, i));
        }
      }
      if (step % 2 == 0) {
        for (int i = 0; i < LENGTHS[3]; i++) {
          mine[0][i] = (mine[0][i] + mine[1][i]) / 2;
          mine[1][i] = mine[0][i];
        }
      }
      for (int rank = 0; rank < 2; rank++) {
        assertThat(runs.get(rank).after().get(step - 1).get(3)).isEqualTo(mine[rank]);
      }
    }
    assertThat(runs.getFirst().outerSteps()).isEqualTo(4); // and none by synchronize
  }

  @Test
  void theOuterOptimizerIsNesterov() {
    List<Run> runs = together(2, LocalSgdOptions.every(1), 3);
    double agreed = 0;
    double velocity = 0;
    for (int step = 0; step < 3; step++) {
      double gradient = 0;
      for (int rank = 0; rank < 2; rank++) {
        double trained = agreed - 0.5 * (agreed - center(rank, 1, 9));
        gradient += (agreed - trained) / 2;
      }
      velocity = 0.9 * velocity + gradient;
      agreed -= 0.7 * (gradient + 0.9 * velocity);
      assertThat((double) runs.getFirst().after().get(step).get(1)[9])
          .isCloseTo(agreed, within(1e-5));
    }
  }

  @ParameterizedTest
  @CsvSource({"2, 32", "3, 32", "2, 8", "3, 8", "3, 4"})
  void ranksConvergeToTheMeanOfTheirMinimaWithTheSameBits(int ranks, int bits) {
    List<Run> runs = together(ranks, LocalSgdOptions.every(4).inBits(bits), 160);
    List<float[]> met = runs.getFirst().after().getLast();
    for (Run run : runs) {
      assertEqual(run.after().getLast(), met);
      assertThat(run.outerSteps()).isEqualTo(40); // the last one by synchronize
    }
    for (int tensor = 0; tensor < LENGTHS.length; tensor++) {
      for (int i = 0; i < LENGTHS[tensor]; i++) {
        double mean = 0;
        for (int rank = 0; rank < ranks; rank++) {
          mean += center(rank, tensor, i) / (double) ranks;
        }
        assertThat((double) met.get(tensor)[i])
            .as("tensor %d, element %d", tensor, i)
            .isCloseTo(mean, within(bits == 32 ? 0.01 : bits == 8 ? 0.5 : 4));
      }
    }
  }

  @Test
  void fragmentsAreAppliedSomeStepsAfterTheSendWithTheSameBits() {
    var options = LocalSgdOptions.every(6).inFragments(3).after(2);
    List<Run> runs = together(3, options, 20);
    List<List<Integer>> parts = Fragments.cut(List.of(5L, 700L, 1L, 1300L, 40L), 3);
    for (int step = 1; step <= 20; step++) {
      for (int fragment = 0; fragment < 3; fragment++) {
        int since = step - 2 - (fragment == 0 ? 6 : 2 * fragment);
        boolean applied = since >= 0 && since % 6 == 0;
        for (int tensor : parts.get(fragment)) {
          float[] first = runs.getFirst().after().get(step - 1).get(tensor);
          for (Run run : runs.subList(1, 3)) {
            float[] other = run.after().get(step - 1).get(tensor);
            if (applied) {
              assertThat(other).as("step %d, tensor %d", step, tensor).isEqualTo(first);
            } else {
              assertThat(other).as("step %d, tensor %d", step, tensor).isNotEqualTo(first);
            }
          }
        }
      }
    }
    assertEqual(runs.get(0).after().getLast(), runs.get(1).after().getLast());
    assertEqual(runs.get(0).after().getLast(), runs.get(2).after().getLast());
  }

  @Test
  void fewerBitsSendFewerBytes() {
    long plain = together(2, LocalSgdOptions.every(5), 10).getFirst().payloadBytes();
    long eight = together(2, LocalSgdOptions.every(5).inBits(8), 10).getFirst().payloadBytes();
    long four = together(2, LocalSgdOptions.every(5).inBits(4), 10).getFirst().payloadBytes();
    assertThat(plain).isEqualTo(2 * 2046 * 4L);
    assertThat((double) plain / eight).isBetween(3.9, 4.0);
    assertThat((double) plain / four).isBetween(7.7, 8.0);
  }

  @Test
  void aWeightThatIsNotANumberIsNamedOnAllRanks() {
    try (LocalJob job = LocalJob.over("inproc", 2)) {
      job.run(
          weft -> {
            try (Arena arena = Arena.ofShared()) {
              var weights = weights(arena);
              var options = LocalSgdOptions.every(1).inBits(8);
              var local = new LocalSgd(weft.communicator(), options, weights);
              if (weft.rank() == 1) {
                List.copyOf(weights.sequencedValues())
                    .get(1)
                    .data()
                    .setAtIndex(JAVA_FLOAT, 2, Float.NaN);
              }
              assertThatThrownBy(local::step)
                  .isInstanceOf(CommException.Broken.class)
                  .hasMessageContaining("rank 1: weight 'w1' has NaN at index 2");
            }
            return true;
          });
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"0,1,0,32", "4,5,0,32", "4,1,4,32", "4,0,1,32", "4,1,-1,32", "4,1,1,16"})
  void invalidOptionsAreRefused(String text) {
    String[] of = text.split(",");
    assertThatThrownBy(
            () ->
                new LocalSgdOptions(
                    Integer.parseInt(of[0]),
                    Integer.parseInt(of[1]),
                    Integer.parseInt(of[2]),
                    Integer.parseInt(of[3]),
                    OuterOptimizer.MEAN))
        .isInstanceOf(IllegalArgumentException.class);
  }

  @Test
  void invalidRatesAndTypesAreRefused() {
    assertThatThrownBy(() -> new OuterOptimizer(0, 0)).hasMessageContaining("got 0.0");
    assertThatThrownBy(() -> new OuterOptimizer(1, 1)).hasMessageContaining("got 1.0");
    assertThatThrownBy(() -> new OuterOptimizer(Float.NaN, 0)).hasMessageContaining("got NaN");
    try (LocalJob job = LocalJob.over("inproc", 1);
        Arena arena = Arena.ofShared()) {
      var weights = new LinkedHashMap<String, TensorView>();
      weights.put("n", new TensorView(DType.INT32, Shape.of(2), arena.allocate(8, 64)));
      var communicator = job.ranks().getFirst().communicator();
      assertThatThrownBy(() -> new LocalSgd(communicator, LocalSgdOptions.every(1), weights))
          .hasMessageContaining("weight 'n' is INT32[2]");
    }
  }
}
