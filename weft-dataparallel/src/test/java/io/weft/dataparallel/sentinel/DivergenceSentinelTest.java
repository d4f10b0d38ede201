// SPDX-License-Identifier: Apache-2.0
package io.weft.dataparallel.sentinel;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_FLOAT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.weft.Weft;
import io.weft.tensor.DType;
import io.weft.tensor.Shape;
import io.weft.tensor.TensorView;
import io.weft.testkit.job.LocalJob;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SequencedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class DivergenceSentinelTest {

  private static SequencedMap<String, TensorView> weights(Arena arena) {
    var weights = new LinkedHashMap<String, TensorView>();
    for (String name : List.of("dense/kernel", "dense/bias", "out/kernel")) {
      TensorView tensor =
          new TensorView(DType.FLOAT32, Shape.of(333), arena.allocate(333 * 4L, 64));
      for (int i = 0; i < 333; i++) {
        tensor.data().setAtIndex(JAVA_FLOAT, i, i * 0.25f);
      }
      weights.put(name, tensor);
    }
    return weights;
  }

  private static void train(SequencedMap<String, TensorView> weights) {
    for (TensorView weight : weights.sequencedValues()) {
      for (int i = 0; i < 333; i++) {
        weight.data().setAtIndex(JAVA_FLOAT, i, weight.data().getAtIndex(JAVA_FLOAT, i) + 1);
      }
    }
  }

  private static void flip(MemorySegment data, long bit) {
    byte before = data.get(JAVA_BYTE, bit / 8);
    data.set(JAVA_BYTE, bit / 8, (byte) (before ^ 1 << bit % 8));
  }

  /// Returns the findings of 20 steps, where a bit flips in step 11 on some ranks.
  private static List<Optional<Divergence>> steps(
      Weft weft, DivergencePolicy policy, List<Integer> flipping) throws InterruptedException {
    try (Arena arena = Arena.ofShared()) {
      var weights = weights(arena);
      var sentinel = new DivergenceSentinel(weft.communicator(), 4, policy, weights);
      var found = new ArrayList<Optional<Divergence>>();
      for (int step = 1; step <= 20; step++) {
        train(weights);
        if (step == 11 && flipping.contains(weft.rank())) {
          flip(weights.sequencedValues().iterator().next().data(), 1000);
        }
        assertThat(sentinel.isNextCheck()).isEqualTo(step % 4 == 0);
        found.add(sentinel.step());
      }
      return found;
    }
  }

  @Test
  void aFlippedBitIsFoundNamedAndHealed() {
    try (LocalJob job = LocalJob.over("inproc", 3)) {
      List<List<Optional<Divergence>>> all =
          job.run(weft -> steps(weft, DivergencePolicy.HEAL, List.of(1)));
      for (List<Optional<Divergence>> found : all) {
        for (int step = 1; step <= 20; step++) {
          assertThat(found.get(step - 1).isPresent()).as("step %d", step).isEqualTo(step == 12);
        }
        Divergence divergence = found.get(11).orElseThrow();
        assertThat(divergence)
            .isEqualTo(
                new Divergence(
                    8,
                    12,
                    List.of(
                        new Divergence.Difference(
                            "dense/kernel", List.of(1), 0, Divergence.Majority.CLEAR))));
        assertThat(divergence.words())
            .isEqualTo(
                "weights differ between ranks since a step from 9 to 12: 'dense/kernel' on rank 1");
      }
    }
  }

  @Test
  void aWarningIsRepeatedWithTheFirstBadStep() {
    try (LocalJob job = LocalJob.over("inproc", 3)) {
      for (List<Optional<Divergence>> found :
          job.run(weft -> steps(weft, DivergencePolicy.WARN, List.of(0)))) {
        for (int step : List.of(12, 16, 20)) {
          Divergence divergence = found.get(step - 1).orElseThrow();
          assertThat(divergence.lastGoodStep()).isEqualTo(8);
          assertThat(divergence.firstBadStep()).isEqualTo(12);
          assertThat(divergence.tensors().getFirst().ranks()).containsExactly(0);
          assertThat(divergence.tensors().getFirst().reference()).isEqualTo(1);
        }
      }
    }
  }

  @Test
  void allRanksStopWithTheSameWordsAndTheLowestRankDecidesATie() {
    try (LocalJob job = LocalJob.over("inproc", 4)) {
      job.run(
          weft -> {
            assertThatThrownBy(() -> steps(weft, DivergencePolicy.STOP, List.of(0, 2)))
                .isInstanceOf(DivergedException.class)
                .hasMessageContaining("since a step from 9 to 12")
                .hasMessageContaining(
                    "'dense/kernel' on ranks 1, 3 (a tie: the side of rank 0 is taken for right)");
            return true;
          });
    }
  }
}
