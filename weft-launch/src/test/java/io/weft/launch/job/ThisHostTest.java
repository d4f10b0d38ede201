// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.job;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// Checks which names denote the launcher's host.
class ThisHostTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "localhost,127.0.0.1",
        "127.0.0.1,localhost",
        "LOCALHOST,[::1]",
        "127.0.0.2,localhost.",
      })
  void ranksUnderSeveralNamesOfThisHostAreOnOneHost(String hosts) {
    List<RankPlacement> ranks = RankPlacement.of(2, HostSlots.parseList(hosts));
    assertThat(ranks).allMatch(RankPlacement::isHere);
    assertThat(ranks).extracting(RankPlacement::localRank).containsExactly(0, 1);
    assertThat(ranks).allMatch(rank -> rank.localSize() == 2 && rank.crossSize() == 1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"localhost1", "node-127.0.0.1", "user@localhost", "1127.0.0.1"})
  void otherNamesDenoteOtherHosts(String host) {
    assertThat(RankPlacement.of(1, HostSlots.parseList(host))).noneMatch(RankPlacement::isHere);
  }
}
