// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.slot;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class PendingNumbersTest {

  /// `-Dweft.test.seed=N` replays.
  private static final long SEED = Long.getLong("weft.test.seed", System.nanoTime());

  private final PendingNumbers pending = new PendingNumbers();

  @Test
  void aNumberComesAfterSmallerOnesOfItsSlot() {
    pending.add(3);
    pending.add(3 + SharedMailbox.SLOTS);
    assertThat(pending.hasBefore(3)).isFalse();
    assertThat(pending.hasBefore(3 + SharedMailbox.SLOTS)).isTrue();
    assertThat(pending.hasBefore(4 + SharedMailbox.SLOTS)).isFalse();
    pending.remove(3);
    assertThat(pending.number(0)).isEqualTo(3 + SharedMailbox.SLOTS);
    assertThat(pending.hasBefore(3 + SharedMailbox.SLOTS)).isFalse();
    assertThat(pending.hasBefore(3 + 2L * SharedMailbox.SLOTS)).isTrue();
  }

  /// As a sorted set that boxes them would.
  @Test
  void areAscendingInWhicheverOrderTheyCome() {
    SplittableRandom random = new SplittableRandom(SEED);
    TreeSet<Long> expected = new TreeSet<>();
    for (int step = 0; step < 2_000; step++) {
      long number = random.nextInt(60);
      if (expected.contains(number)) {
        pending.remove(number);
        expected.remove(number);
      } else {
        pending.add(number);
        expected.add(number);
      }
      long probe = random.nextInt(60);
      assertThat(pending.hasBefore(probe))
          .as("%d in step %d, seed %d", probe, step, SEED)
          .isEqualTo(
              expected.headSet(probe).stream()
                  .anyMatch(each -> (probe - each) % SharedMailbox.SLOTS == 0));
      assertThat(IntStream.range(0, pending.size()).mapToObj(pending::number))
          .as("seed %d", SEED)
          .containsExactlyElementsOf(expected);
    }
  }
}
