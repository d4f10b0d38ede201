// SPDX-License-Identifier: Apache-2.0
package io.weft.qa.torture;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.qa.torture.Flaw.FlawKind;
import java.util.List;
import org.junit.jupiter.api.Test;

class JobOutcomeTest {

  private static JobOutcome outcome(long seed, double seconds, Flaw... flaws) {
    return new JobOutcome(Harm.STOP, seed, "rank 2", 0.25, seconds, 8.5, 1.75, List.of(flaws));
  }

  @Test
  void aWrittenOutcomeCanBeRead() {
    JobOutcome bad =
        outcome(
            7,
            5.125,
            new Flaw(FlawKind.CAUSE, "it said \"rank 1\", a \\ and\na tab\t{\"kind\":\"FILE\"}"),
            new Flaw(FlawKind.ORPHAN, "processes are left: [12, 13]"));
    assertThat(bad.json().lines()).hasSize(1);
    assertThat(JobOutcome.parse(bad.json())).contains(bad);
    JobOutcome good = outcome(8, 5);
    assertThat(JobOutcome.parse(good.json())).contains(good);
    assertThat(JobOutcome.parse("{\"harm\":\"flood\"}")).isEmpty();
  }

  @Test
  void theTableCountsFlawsByKind() {
    List<JobOutcome> all =
        List.of(
            outcome(1, 5),
            outcome(2, 9, new Flaw(FlawKind.LATE, "late")),
            outcome(3, 6, new Flaw(FlawKind.CAUSE, "nobody"), new Flaw(FlawKind.FILE, "x")));
    List<String> lines = new ResultTable(all).toString().lines().toList();
    assertThat(lines).hasSize(2);
    assertThat(lines.getLast().split(" +"))
        .containsExactly("stop", "3", "2", "2", "6.00", "9.00", "9.00", "0", "1", "1.8", "2");
  }
}
