// SPDX-License-Identifier: Apache-2.0
package io.weft.property;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PropertyTest {

  @Test
  void everyTryDrawsNewArgumentsWithinTheBounds() {
    List<Integer> ints = new ArrayList<>();
    List<Long> longs = new ArrayList<>();
    Property.check(
        500,
        null,
        new Random(1),
        draw -> {
          ints.add(draw.between(-3, 900));
          longs.add(draw.between(Long.MIN_VALUE, Long.MAX_VALUE));
          assertThat(draw.list(1, 4, () -> draw.of("a", "b"))).hasSizeBetween(1, 4);
        });
    assertThat(ints).hasSize(500).contains(-3, 900, -2).allMatch(i -> i >= -3 && i <= 900);
    assertThat(ints.stream().distinct().count()).isGreaterThan(150);
    assertThat(longs).contains(Long.MIN_VALUE, Long.MAX_VALUE);
  }

  @Test
  void theSeedInTheMessageRepeatsAFailedTry() {
    long[] drawn = {0, 0};
    Property.Check check =
        draw -> {
          drawn[0] = draw.between(0, 1000);
          drawn[1] = draw.seed();
          assertThat(drawn[0]).as("drawn").isLessThan(500);
        };
    AssertionError failure = null;
    try {
      Property.check(10_000, null, new Random(2), check);
    } catch (AssertionError thrown) {
      failure = thrown;
    }
    assertThat(failure)
        .hasMessageMatching(
            "(?s)try \\d+ of 10000, run it again with -Dweft.test.seed=-?\\d+, drew \\[%d, %d]: .*drawn.*"
                .formatted(drawn[0], drawn[1]));
    long[] first = drawn.clone();
    Arrays.fill(drawn, -1);
    long seed = Long.parseLong(failure.getMessage().replaceAll("(?s).*seed=(-?\\d+),.*", "$1"));
    assertThatExceptionOfType(AssertionError.class)
        .isThrownBy(() -> Property.check(10_000, seed, new Random(3), check))
        .withMessageStartingWith("try 1 of 1,");
    assertThat(drawn).isEqualTo(first);
  }

  @Test
  void anExceptionFailsATry() {
    assertThatExceptionOfType(AssertionError.class)
        .isThrownBy(
            () ->
                Property.check(
                    1,
                    draw -> {
                      throw new IOException("disk full");
                    }))
        .withMessageContaining("disk full")
        .withCauseInstanceOf(IOException.class);
    assertThatCode(() -> Property.check(1, draw -> {})).doesNotThrowAnyException();
  }
}
