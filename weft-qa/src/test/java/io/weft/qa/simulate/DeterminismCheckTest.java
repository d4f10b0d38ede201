// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class DeterminismCheckTest {

  @Tag("long")
  @Test
  @Timeout(600)
  void aSeedDeterminesTheTraceInEveryProcessWithEveryCollector() throws InterruptedException {
    Map<String, String> hashes = DeterminismCheck.hashes(List.of("--seed", "7"));
    assertThat(hashes).hasSizeGreaterThan(3);
    assertThat(hashes.values().stream().distinct()).singleElement().asString().hasSize(16);
  }
}
