// SPDX-License-Identifier: Apache-2.0
package io.weft.perf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import org.junit.jupiter.api.Test;

final class HandoverTest {

  @Test
  void aHandoverTakesLongerThanAnInstructionAndLessThanASleep() throws Exception {
    assumeThat(Runtime.getRuntime().availableProcessors()).as("processors").isGreaterThan(1);
    Integer nanos = Handover.nanos();
    assumeThat(nanos).as("two threads got two processors").isNotNull();
    assertThat(nanos).isBetween(5, 20_000);
  }

  @Test
  void noThreadIsLeftRunning() throws Exception {
    Handover.nanos();
    assertThat(Thread.getAllStackTraces().keySet())
        .extracting(Thread::getName)
        .doesNotContain("weft-handover");
  }
}
