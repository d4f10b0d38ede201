// SPDX-License-Identifier: Apache-2.0
package io.weft.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ProcessorsTest {

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {"0; 1", "0-3,8; 5", "2-2; 1", "0-1,64-127; 66"})
  void rangesAreCounted(String list, int count) {
    assertThat(new Processors(list).count()).isEqualTo(count);
  }

  @Test
  void unknownProcessorsCountAsNone() {
    assertThat(Processors.UNKNOWN.count()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "3-1", "0,", "-1", "0-65536", "0-99999999999", "1 2"})
  void malformedListsAreRefused(String list) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Processors(list))
        .withMessageContaining(list);
  }

  @Test
  void thisProcessHasAtLeastTheProcessorsOfTheJvm() {
    assumeTrue(Files.exists(Path.of("/proc/self/status")), "only Linux says");
    assertThat(Processors.allowed().count())
        .isGreaterThanOrEqualTo(Runtime.getRuntime().availableProcessors());
  }

  private static Topology topology(String... lists) {
    return new Topology(
        0,
        IntStream.range(0, lists.length)
            .mapToObj(
                rank ->
                    new Member(
                        rank, rank, 0, "node", "" + rank, new Processors(lists[rank]), List.of()))
            .toList());
  }

  @Test
  void processorsOfBoundRanksAreUnited() {
    assertThat(topology("0", "1").processors(1)).isEqualTo(2);
    assertThat(topology("0-1", "0-1", "0-1").processors(0)).isEqualTo(2);
    assertThat(topology("0-1", "1-2").processors(0)).isEqualTo(3);
  }

  @Test
  void oneRankWithUnknownProcessorsMakesTheHostUnknown() {
    assertThat(topology("0", "").processors(0)).isZero();
  }
}
