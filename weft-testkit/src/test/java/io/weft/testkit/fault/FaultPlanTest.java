// SPDX-License-Identifier: Apache-2.0
package io.weft.testkit.fault;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FaultPlanTest {

  @Test
  void aPlanIsParsedAndFormatted() {
    String text =
        "cut=0-1@2000ms; half-close=1>0; stall=0,1-2,3:3000ms@500ms; delay=0>1:20ms;"
            + " corrupt=1>2@65536";
    assertThat(FaultPlan.parse(text)).hasToString(text);
    assertThat(FaultPlan.parse("cut=0-1@2s;corrupt=1>2@64K"))
        .hasToString("cut=0-1@2000ms; corrupt=1>2@65536");
    assertThat(FaultPlan.parse(" ; ")).isEqualTo(FaultPlan.none());
  }

  @Test
  void linksCoverExactlyTheirRanksAndDirections() {
    Links oneWay = FaultPlan.parse("stall=0,1>2").faults().getFirst().links();
    assertThat(oneWay.covers(1, 2)).isTrue();
    assertThat(oneWay.covers(2, 1)).isFalse();
    assertThat(oneWay.covers(0, 1)).isFalse();
    Links all = FaultPlan.parse("ranks=3; delay=*-*:1ms").faults().getFirst().links();
    assertThat(all.covers(2, 0)).isTrue();
    assertThat(all.covers(0, 3)).isFalse();
  }

  @Test
  void theSeedDeterminesTheDrawnFaults() {
    Set<String> plans = new HashSet<>();
    for (int seed = 0; seed < 200; seed++) {
      String text = "any=?-?@1s..5s; cut=?>0@1K..64K; seed=" + seed;
      FaultPlan plan = FaultPlan.parse(text, 4);
      assertThat(FaultPlan.parse(text, 4)).isEqualTo(plan);
      assertThat(FaultPlan.parse(plan.toString())).isEqualTo(plan);
      for (ConnectionFault fault : plan.faults()) {
        assertThat(fault.links().from()).hasSize(1).doesNotContainAnyElementsOf(fault.links().to());
        assertThat(fault.links().to()).hasSize(1);
      }
      plans.add(plan.toString());
    }
    assertThat(plans).hasSizeGreaterThan(150);
    assertThat(plans).anyMatch(p -> p.startsWith("corrupt=")).anyMatch(p -> p.startsWith("stall="));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '"',
      value = {
        "break=0-1          | unknown kind 'break'; expected any or one of [cut, half-close,",
        "cut=0+1            | not KIND=LINKS",
        "cut=0-?            | '?' needs ranks=N",
        "cut=0-1:3s         | cut has no amount",
        "delay=0-1          | a delay needs an amount",
        "stall=0-1:64K      | '64K' is not a time",
        "cut=0-1@tomorrow   | 'tomorrow' is not a time",
        "cut=0-1@5s..2s     | the range '5s..2s' is empty",
        "cut=0-1@1s..2s..3s | is not a time",
        "cut=?-0,1; ranks=2 | no rank is left to draw"
      })
  void aWrongItemIsNamed(String text, String why) {
    assertThatThrownBy(() -> FaultPlan.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(text.split(";")[0])
        .hasMessageContaining(why);
  }
}
