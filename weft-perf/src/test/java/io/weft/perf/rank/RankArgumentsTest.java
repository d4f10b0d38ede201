// SPDX-License-Identifier: Apache-2.0
package io.weft.perf.rank;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.List;
import org.junit.jupiter.api.Test;

final class RankArgumentsTest {

  private static RankArguments of(String... words) {
    return RankArguments.parse(List.of(words));
  }

  @Test
  void aShortWarmUpBoundsTheCompilersToo() {
    RankArguments usual = of("allreduce:own", "200", "4:3", "64:3", "1024:3");
    assertThat(usual.warmUpNanos()).isEqualTo(200_000_000);
    assertThat(usual.firstWarmUpNanos()).isEqualTo(2_000_000_000);
    assertThat(usual.longestWarmUpNanos()).isEqualTo(40_000_000_000L);
    assertThat(of("allreduce:own", "5", "4:3").longestWarmUpNanos()).isEqualTo(1_000_000_000);
  }

  @Test
  void settingsFollowTheLabel() {
    assertThat(of("writes:7:128", "1", "64:3").settings()).containsExactly("7", "128");
    assertThat(of("pingpong", "1", "64:3").settings()).isEmpty();
  }

  @Test
  void anInvalidArgumentIsRefusedWithTheUsage() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> of("pingpong", "soon", "64:3"))
        .withMessageStartingWith("usage: BENCHMARK[:SETTING...] WARM_UP_MILLIS BYTES:ITERATIONS");
  }
}
