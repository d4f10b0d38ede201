// SPDX-License-Identifier: Apache-2.0
package io.weft.launch.timeline;

import static org.assertj.core.api.Assertions.assertThat;

import io.weft.launch.timeline.Intervals.Interval;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RankTimeTest {

  private static final RankTime.Layer NOTHING = new RankTime.Layer(List.of(), List.of(), List.of());

  private final RankTime time = new RankTime(0);

  private static RankTime.Sent sent(long submitted, long ended, long last, int rank) {
    return new RankTime.Sent(submitted, ended, last, rank, false);
  }

  @Test
  void communicationAfterTheLastSubmissionIsExposed() {
    time.step(0, 100, List.of(sent(10, 40, 10, 0), sent(50, 80, 60, 1)), List.of(), NOTHING);
    assertThat(time.waitingNanos()).isEqualTo(10);
    assertThat(time.exposedNanos()).isEqualTo(20);
    assertThat(time.waitedFor()).isEqualTo(Map.of(1, 10L));
  }

  @Test
  void operationOfThePreviousStepCountsWhereItEnds() {
    time.step(100, 200, List.of(sent(90, 130, 120, 1)), List.of(), NOTHING);
    assertThat(time.waitingNanos()).isEqualTo(20);
    assertThat(time.exposedNanos()).isEqualTo(10);
  }

  @Test
  void negotiationQueueAndCopyTimesAreReportedSeparately() {
    var layer =
        new RankTime.Layer(
            List.of(new Interval(50, 110), new Interval(55, 110)),
            List.of(new Interval(110, 115)),
            List.of(new Interval(115, 125), new Interval(160, 170)));
    var round = new RankTime.Sent(52, 108, 80, 2, true);
    time.step(0, 200, List.of(round, sent(125, 160, 125, 0)), List.of(), layer);
    // The interval is from the last submission at 55 to the last copy at 170. Rank 2 was late until
    // 80.
    assertThat(time.waitingNanos()).isEqualTo(25);
    assertThat(time.exposedNanos()).isEqualTo(90);
    assertThat(time.negotiationNanos()).isEqualTo(30);
    assertThat(time.queueNanos()).isEqualTo(5);
    assertThat(time.copyNanos()).isEqualTo(20);
    assertThat(time.waitedFor()).isEqualTo(Map.of(2, 25L));
  }

  @Test
  void communicationDuringComputationIsNotExposed() {
    var layer =
        new RankTime.Layer(List.of(new Interval(10, 30)), List.of(), List.of(new Interval(30, 40)));
    time.step(0, 100, List.of(sent(40, 60, 40, 0)), List.of(new Interval(0, 35)), layer);
    assertThat(time.exposedNanos()).isEqualTo(25);
    assertThat(time.copyNanos()).isEqualTo(5);
    assertThat(time.negotiationNanos()).isZero();
  }
}
