// SPDX-License-Identifier: Apache-2.0
package io.weft.collective.mailbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SkippedSlotsTest {

  /// The seed; `-Dweft.test.seed=N` repeats a run.
  private static final long SEED = Long.getLong("weft.test.seed", System.nanoTime());

  private final SkippedSlots skipped = new SkippedSlots();

  @Test
  void aSlotIsSkippedUntilAllItsNumbersAreRemoved() {
    skipped.add(3);
    skipped.add(3 + SharedMailbox.SLOTS);
    assertThat(skipped.isSkippedIn(3 + 5L * SharedMailbox.SLOTS)).isTrue();
    assertThat(skipped.isSkippedIn(4)).isFalse();
    skipped.remove(0);
    assertThat(skipped.number(0)).isEqualTo(3 + SharedMailbox.SLOTS);
    assertThat(skipped.isSkippedIn(3)).isTrue();
    skipped.remove(0);
    assertThat(skipped.isSkippedIn(3)).isFalse();
    assertThat(skipped.size()).isZero();
  }

  /// Compares with a list of boxed numbers.
  @Test
  void theOrderIsKeptForAnyOrderOfRemovals() {
    SplittableRandom random = new SplittableRandom(SEED);
    List<Long> expected = new ArrayList<>();
    long number = 0;
    for (int step = 0; step < 2_000; step++) {
      number += random.nextInt(1, 4);
      if (expected.isEmpty() || random.nextInt(5) > 1) {
        skipped.add(number);
        expected.add(number);
      } else {
        int index = random.nextInt(expected.size());
        skipped.remove(index);
        expected.remove(index);
      }
      long probe = random.nextInt(SharedMailbox.SLOTS);
      assertThat(skipped.isSkippedIn(probe))
          .as("slot %d in step %d, seed %d", probe, step, SEED)
          .isEqualTo(expected.stream().anyMatch(each -> each % SharedMailbox.SLOTS == probe));
    }
    assertThat(IntStream.range(0, skipped.size()).mapToObj(skipped::number).toList())
        .as("seed %d", SEED)
        .isEqualTo(expected);
  }
}
